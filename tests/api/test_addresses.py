"""No place calls an address that leads inside, however it is spelled; and no other place calls anybody."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from flask import Flask, redirect

from api.reports import pdf
from api.webhooks.egress import Egress, FetchError
from tests import faults_page
from tests.api import doors
from tests.factories.addresses import ADDRESSES
from tests.fixtures.sandbox import served

ROOT = Path(__file__).resolve().parents[2]
NETWORK = re.compile(
    r"^\s*(?:import|from) (?:aiohttp|ftplib|grpc|http\.client|httpx|requests|socket|urllib\.request|urllib3)\b", re.M
)
# who calls, and whose address
CALLERS = {
    "api/providers.py": "the sandbox's, from the settings",
    "api/v1/profiles/demo_shop.py": "the sandbox's, from the settings",
    "api/webhooks/egress.py": "users', checked",
    "connectors/deadline.py": "those of the two that bind a client to it",
    "connectors/downloads.py": "the platform's, checked by connectors/chatapp.py",
    "connectors/transport.py": "providers', fixed",
    "connectors/trust.py": "nobody's: it makes what the two call with",
    "orchestration/spark_needs.py": "our own",
    "touchledger/dagster_pulse.py": "our own",
    "touchledger/demo.py": "our own",
    "touchledger/doctor.py": "our own",
    "touchledger/http_worker.py": "nobody's: clients call it",
    "touchledger/supervisor.py": "our own",
}


@pytest.mark.parametrize("door", doors.DOORS)
def test_no_form_of_an_inner_address_passes(door: str) -> None:
    if door == "picture in a PDF" and not pdf.is_available():
        pytest.skip("WeasyPrint's libraries are not installed")
    told = {name: doors.tried(door, url) for name, url in ADDRESSES.items()}
    assert told == dict.fromkeys(ADDRESSES, doors.REFUSED)
    assert told == {name: faults_page.cells()[name, door] for name in ADDRESSES}
    # the door is no wall
    assert doors.tried(door, doors.OPEN[door]).startswith(doors.CALLED)


def test_a_chain_of_redirects_ends_at_its_first_link() -> None:
    app, came = Flask("links"), list[str]()

    @app.get("/<int:number>")
    def link(number: int) -> object:
        came.append(str(number))
        return redirect(f"/{number + 1}") if number < 3 else "inside"

    with served(app) as url, pytest.raises(FetchError, match="302"):
        Egress({"https://links.example": url}).fetch("https://links.example/1", io.BytesIO(), most_bytes=10)
    assert came == ["1"]


def test_only_the_known_places_call_anybody() -> None:
    packages = ("api", "connectors", "orchestration", "touchledger")
    files = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    assert {str(path.relative_to(ROOT)) for path in files if NETWORK.search(path.read_text())} == CALLERS.keys()
