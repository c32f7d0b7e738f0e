"""GET /attribution/ad-people through HTTP: windows of 366 days over a million ad touches of one profile.

`python -m benchmarks.ad_people` generates the touches, builds and publishes them with the shipped pipeline, serves them
with the product's gunicorn, and prints p50 and p99 per kind of question as one client on loopback sees them.
"""

from __future__ import annotations

import http.client
import json
import os
import platform
import socket
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from benchmarks.generated import path_lengths
from benchmarks.landed import write_file
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import run_dbt
from orchestration.lake import Lake
from orchestration.likelihoods import write_likelihoods
from orchestration.publish import publish, take_token
from orchestration.served_tables import served_tables
from touchledger.accounts import create_profile, mint_key
from touchledger.serving import api_address, start_api
from touchledger.settings import Settings
from touchledger.state import prepare
from touchledger.supervisor import Supervisor

RESULTS = Path(__file__).parent / "results"
BEGIN = date(2025, 1, 1)
DAYS = 400
ADS = 4_000
WAYS = (("web", "web", 0.6), ("chatapp", "conversation_referral", 0.25), ("social", "conversation_referral", 0.15))
# a key may ask 60 times a minute, and asks no more here than it may in one
QUESTIONS_PER_KEY = 55
QUESTIONS: dict[str, dict[str, str]] = {
    "months": {"group_by": "month"},
    "months of one channel": {"group_by": "month", "channel": "chatapp"},
    "months, first only": {"group_by": "month", "first_only": "true"},
    "days": {"group_by": "day"},
    "100 best ads": {"group_by": "ad"},
}
EVERYONE = """
select count(distinct person_key), count(*) from intermediate.int_ad_touches where day between $first and $last
"""


@click.command()
@click.option("--touches", default=1_100_000, show_default=True, help="How many ad touches to generate, over 400 days.")
@click.option("--requests", default=200, show_default=True, help="How often to ask each kind of question.")
@click.option("--seed", default=7, show_default=True)
def main(touches: int, requests: int, seed: int) -> None:
    """Measure, print the table, and keep it under benchmarks/results."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TOUCHLEDGER_HOME": str(Path(folder) / "home"), "TOUCHLEDGER_API_PORT": str(_free_port())}
        result = measure(Settings(), touches=touches, requests=requests, seed=seed)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"ad_people-{touches}.json").write_text(json.dumps(result, indent=2) + "\n")
    _print(result)


def measure(settings: Settings, *, touches: int, requests: int, seed: int) -> dict[str, Any]:
    """Sizes, milliseconds per kind of question, the machine and its load."""
    profile = _published(settings, touches=touches, seed=seed)
    count = len(QUESTIONS) * (requests + 1) // QUESTIONS_PER_KEY + 1
    keys = [mint_key(settings, profile_id=profile, scopes=[], name=f"bench {n}") for n in range(count)]
    with Supervisor(settings.home / "logs") as supervisor:
        api = start_api(supervisor, settings)
        supervisor.wait_until_answers(api, f"{api_address(settings)}/healthz", within=60)
        client = Client(settings, keys)
        totals = _exact(settings, client)
        load = os.getloadavg()[0]
        milliseconds = {name: _asked(client, query, requests, seed) for name, query in QUESTIONS.items()}
    return {
        "ad touches of the window": totals["ad_touches"],
        "people of the window": totals["ad_people"],
        "seed": seed,
        "requests of each kind": requests,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__},
        "load average": {"before": round(load, 2), "after": round(os.getloadavg()[0], 2)},
        "milliseconds": milliseconds,
    }


def _published(settings: Settings, *, touches: int, seed: int) -> str:
    prepare(settings)
    profile = create_profile(settings, name="Bench", timezone="America/New_York", currency="USD")
    lake = Lake(settings.lake)
    land_app_sets(settings.operational_url, lake)
    columns = _touches(np.random.default_rng(seed), touches)
    write_file(lake.root, profile, "touches", {name: pa.array(values) for name, values in columns.items()}, seq=1)
    done = run_dbt(settings, ["build", "--exclude-resource-type", "test", "unit_test"])
    if done.returncode != 0:
        raise click.ClickException(done.stdout[-2000:] + done.stderr[-2000:])
    write_likelihoods(settings)
    publish(settings, token=take_token(settings.operational_url), tables=served_tables())
    return profile


def _touches(numbers: np.random.Generator, touches: int) -> dict[str, Any]:
    lengths = path_lengths(numbers, touches)
    people = np.repeat(np.arange(len(lengths)), lengths)
    count = len(people)
    ads = np.minimum(numbers.zipf(1.2, count) - 1, 10**9) % ADS
    begin = int(datetime(BEGIN.year, BEGIN.month, BEGIN.day, tzinfo=UTC).timestamp())
    ways = numbers.choice(len(WAYS), count, p=[share for *_, share in WAYS])
    return {
        "touch_key": [f"t{n}" for n in range(count)],
        "occurred_at": (begin + numbers.integers(0, DAYS * 86_400, count)) * 1_000_000,
        "person_key": [f"p{person}" for person in people],
        "channel": [WAYS[way][0] for way in ways],
        "origin": [WAYS[way][1] for way in ways],
        "ad_platform": ["meta"] * count,
        "ad_id": [f"{120_000_000 + ad}" for ad in ads],
        "is_direct": np.zeros(count, bool),
        "is_paid": np.ones(count, bool),
    }


class Client:
    """One kept connection to the API; takes the next key before the last one's allowance is spent."""

    def __init__(self, settings: Settings, keys: list[str]) -> None:
        self.connection = http.client.HTTPConnection(settings.api_host, settings.api_port)
        self.keys = (key for key in keys for _ in range(QUESTIONS_PER_KEY))

    def ask(self, query: dict[str, str]) -> bytes:
        """The body of an answer that must be 200."""
        headers = {"Authorization": f"Bearer {next(self.keys)}"}
        self.connection.request("GET", f"/api/v1/attribution/ad-people?{urlencode(query)}", headers=headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise click.ClickException(body.decode()[:500])
        return body


def _windows(seed: int) -> Iterator[dict[str, str]]:
    """Windows of 366 days, in an order of their own, so that no two neighbours ask the same."""
    starts = np.random.default_rng(seed).permutation(DAYS - 366)
    for start in cycle(int(start) for start in starts):
        first = BEGIN + timedelta(days=start)
        yield {"date_from": first.isoformat(), "date_to": (first + timedelta(days=365)).isoformat()}


def _exact(settings: Settings, client: Client) -> dict[str, Any]:
    """Totals of one window, which must be what count(distinct) over the touches says."""
    window = next(_windows(0))
    totals: dict[str, Any] = json.loads(client.ask(window))["data"]["totals"]
    with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
        counted = connection.execute(EVERYONE, {"first": window["date_from"], "last": window["date_to"]}).fetchone()
    if counted != (totals["ad_people"], totals["ad_touches"]):
        raise click.ClickException(f"answered {totals}, counted {counted}")
    return totals


def _asked(client: Client, query: dict[str, str], requests: int, seed: int) -> dict[str, float]:
    spent = []
    for _, window in zip(range(requests), _windows(seed), strict=False):
        begun = time.perf_counter()
        client.ask({**window, **query})
        spent.append((time.perf_counter() - begun) * 1_000)
    return {name: round(float(np.percentile(spent, percent)), 1) for name, percent in (("p50", 50), ("p99", 99))}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _print(result: dict[str, Any]) -> None:
    sizes = f"{result['ad touches of the window']:,} ad touches of {result['people of the window']:,} people"
    table = Table("question", "p50 ms", "p99 ms", title=f"366 days, {sizes}; load {result['load average']}")
    for question, spent in result["milliseconds"].items():
        table.add_row(question, str(spent["p50"]), str(spent["p99"]))
    Console().print(table)


if __name__ == "__main__":
    main()
