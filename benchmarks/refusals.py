"""How long a refused credential takes, by why it is refused: `python -m benchmarks.refusals`.

The answers are the same to the byte but for the request's id; this says how far the time tells them apart. A wrong
checksum is refused without asking the database, since the checksum is no secret: whoever can count knows it is wrong.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click
from flask.testing import FlaskClient
from rich.console import Console
from rich.table import Table

from api import credentials, db, logs
from api.app import create_app
from touchledger.accounts import create_profile
from touchledger.settings import Settings
from touchledger.state import prepare


@click.command()
@click.option("--rounds", default=2000, show_default=True, help="Requests of each kind, taken in turns.")
def main(rounds: int) -> None:
    """Measure and print medians and the spread."""
    logs.configure("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        prepare(settings)
        client = create_app(settings).test_client()
        times = _measured(client, _kinds(settings), rounds)
        db.close_engines(settings.operational_url)
    table = Table("refused because", "median µs", "p10 µs", "p90 µs", title=f"{rounds} requests of each kind")
    for kind, taken in times.items():
        tenths = statistics.quantiles(taken, n=10)
        table.add_row(kind, *(f"{value:.0f}" for value in (statistics.median(taken), tenths[0], tenths[8])))
    Console().print(table)


def _kinds(settings: Settings) -> Mapping[str, str]:
    profile_id = create_profile(settings, name="Benchmark", timezone="UTC", currency="USD")
    with db.transaction(settings.operational_url) as session:
        revoked, secret = credentials.mint_api_key(session, profile_id=profile_id, name="revoked")
        revoked.revoked_at = db.now()
        # among others, as in a deployment
        for number in range(1000):
            credentials.mint_api_key(session, profile_id=profile_id, name=f"key {number}")
    unknown = credentials.mint("tl_live")
    wrong = unknown[:-1] + ("0" if unknown[-1] != "0" else "1")
    return {"unknown": unknown, "revoked": secret, "wrong checksum": wrong}


def _measured(client: FlaskClient, kinds: Mapping[str, str], rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds + 50):
        for kind, secret in kinds.items():
            began = time.perf_counter_ns()
            status = client.get("/api/v1/campaigns", headers={"Authorization": f"Bearer {secret}"}).status_code
            taken = (time.perf_counter_ns() - began) / 1000
            if status != 401:
                raise RuntimeError(f"a credential that is {kind} was answered {status}")
            # the first of each warm up caches
            if number >= 50:
                times[kind].append(taken)
    return times


if __name__ == "__main__":
    main()
