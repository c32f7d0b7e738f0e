"""GET /campaigns under load, as it is served: `python -m benchmarks.campaign_load`.

Profiles of several sizes are published in the shipped layout and asked through the product's gunicorn by many keys,
since one key may ask 60 times a minute: closed over 1, 4 and 16 connections, open at even rates, answers already known
(304), and one request at a time by size of profile. Authentication, allowance, counting, log and envelope are on.
`--postgres` keeps the state in a Postgres server of its own instead of SQLite.
"""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import duckdb
from rich.console import Console
from rich.table import Table

from api.credentials import mint_api_key
from api.db import transaction
from api.served import LEVELS, MODELS
from benchmarks import campaign_world
from benchmarks.arrivals import Line, Question, closed, cpu_seconds, in_turn, opened
from tests.fixtures.postgres import create_database, running_server
from touchledger.accounts import create_profile
from touchledger.serving import start_api
from touchledger.settings import Settings
from touchledger.state import prepare
from touchledger.supervisor import Supervisor

RESULTS = Path(__file__).parent / "results"
# how many of the questions are about a profile of this size
SHARES = {1_000: 0.70, 100_000: 0.25, 1_000_000: 0.05}
CONNECTIONS = (1, 4, 16)
QUESTIONS = 20_000
SINGLE = 300
# as many questions whose answers are known, about profiles of this size
KNOWN, KNOWN_SIZE = 2_000, 100_000


@click.command()
@click.option("--profiles", default="8,4,2", show_default=True, help="How many of 1 k, 100 k and 1 M entity-days.")
@click.option("--keys", default=2_000, show_default=True, help="How many keys ask, each about one profile.")
@click.option("--seconds", default=10, show_default=True, help="How long each closed load lasts.")
@click.option("--rates", default="250,500,750,1000", show_default=True, help="Arrivals a second of the open loads.")
@click.option("--seed", default=7, show_default=True)
@click.option("--postgres", is_flag=True, help="Keep the state in Postgres.")
def main(profiles: str, keys: int, seconds: int, rates: str, seed: int, postgres: bool) -> None:
    """Measure, print the tables, and keep them under benchmarks/results."""
    if shutil.which("wrk") is None:
        raise click.ClickException("closed loads need wrk (Debian package: wrk)")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ |= {"TOUCHLEDGER_HOME": str(folder / "home"), "TOUCHLEDGER_API_PORT": str(_free_port())}
        if postgres:
            server = stack.enter_context(running_server(fsync="on"))
            os.environ["TOUCHLEDGER_DATABASE_URL"] = create_database(server, "load")
        settings = Settings()
        counts = dict(zip(SHARES, map(int, profiles.split(",")), strict=True))
        questions, rows = deployment(settings, counts=counts, keys=keys, seed=seed)
        result = measure(settings, questions, seconds=seconds, rates=[float(rate) for rate in rates.split(",")])
    result = {
        "state": "postgres" if postgres else "sqlite",
        "profiles": {f"{size:,} entity-days": count for size, count in counts.items()},
        "rows": rows,
        "seed": seed,
        **result,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"campaign-load-{result['state']}.json").write_text(json.dumps(result, indent=2) + "\n")
    _print(result)


def deployment(
    settings: Settings, *, counts: dict[int, int], keys: int, seed: int
) -> tuple[dict[int, list[Question]], dict[str, int]]:
    """A published snapshot and its keys: questions by size of profile, and rows per served table."""
    prepare(settings)
    sizes = {
        create_profile(settings, name=f"{size} {number}", timezone="UTC", currency="USD"): size
        for size, count in counts.items()
        for number in range(count)
    }
    rows = campaign_world.write(settings, profiles=sizes, seed=seed)
    chosen = random.Random(seed)  # noqa: S311 - a load, not a secret
    found: dict[int, list[Question]] = {}
    with transaction(settings.operational_url) as session:
        for size, share in ((size, SHARES[size]) for size, count in counts.items() if count):
            owners = [profile for profile, its in sizes.items() if its == size]
            minted = [
                mint_api_key(session, profile_id=owners[n % len(owners)], name=f"load {n}")[1]
                for n in range(max(1, round(keys * share)))
            ]
            asked = range(round(QUESTIONS * share))
            found[size] = [Question(_path(chosen), minted[n % len(minted)]) for n in asked]
            if size == KNOWN_SIZE:
                # a key for each: those of the other loads have little of their minute left
                found[size] += [
                    Question(_path(chosen), mint_api_key(session, profile_id=owners[n % len(owners)], name="known")[1])
                    for n in range(KNOWN)
                ]
    return found, rows


def _path(chosen: random.Random) -> str:
    """Windows of 7 to 90 days; half under the default model, half without a level."""
    days = chosen.randint(7, 90)
    last = campaign_world.END - timedelta(days=chosen.randint(0, campaign_world.DAYS - days))
    level = chosen.choice((None, None, None, *LEVELS))
    query = {
        "date_from": last - timedelta(days=days - 1),
        "date_to": last,
        "model": chosen.choice((*MODELS, *["last_touch"] * 3)),
        **({"level": level} if level else {}),
    }
    return f"/api/v1/campaigns?{urlencode(query)}"


def measure(
    settings: Settings, questions: dict[int, list[Question]], *, seconds: int, rates: Sequence[float]
) -> dict[str, Any]:
    """Every load in turn against one server; the load of the machine beside it."""
    mixed = [one for size, some in questions.items() for one in (some[:-KNOWN] if size == KNOWN_SIZE else some)]
    random.Random(0).shuffle(mixed)  # noqa: S311 - likewise
    address = f"{settings.api_host}:{settings.api_port}"
    with Supervisor(settings.home / "logs") as supervisor:
        api = start_api(supervisor, settings)
        supervisor.wait_until_answers(api, f"http://{address}/healthz", within=60)
        in_turn([questions[size][n] for n in range(50) for size in questions], address=address)
        known = _known(questions[KNOWN_SIZE][-KNOWN:][:SINGLE], address)
        load = os.getloadavg()[0]

        def cost(measured: Callable[[], dict[str, Any]], requests: int | None = None) -> dict[str, Any]:
            before = cpu_seconds(api.process.pid)
            told = measured()
            spent = cpu_seconds(api.process.pid) - before
            return {**told, "server CPU ms per request": round(spent * 1000 / (requests or told["requests"]), 3)}

        def alone(some: Sequence[Question]) -> dict[str, Any]:
            begun = time.perf_counter()
            return in_turn(some, address=address).told(time.perf_counter() - begun)

        singles = {
            **{f"{size:,} entity-days": some[:SINGLE] for size, some in questions.items()},
            "304 at 100,000 entity-days": known,
        }
        single = {name: cost(lambda: alone(some), len(some)) for name, some in singles.items()}  # noqa: B023
        closed_loads, open_loads = {}, {}
        options = {"address": address, "connections": 4, "seconds": seconds}
        closed_loads["4, none asked before"] = cost(lambda: closed(mixed, folder=settings.home, begin=0, **options))
        # a worker that served the snapshot before has read ahead by now (api/snapshot.py); these have met none
        large = [one for size in (1_000_000, 100_000) for one in questions.get(size, [])[: QUESTIONS // 20]]
        # twice, not for a time: a faster server would use up the allowance of their keys
        opened(large * 2, address=address, connections=8, per_second=250)
        for turn, connections in enumerate(CONNECTIONS):
            options = {"address": address, "connections": connections, "seconds": seconds}
            begin = (turn * QUESTIONS // 3) % len(mixed)
            closed_loads[str(connections)] = cost(
                lambda: closed(mixed, folder=settings.home, begin=begin, **options)  # noqa: B023
            )
        options = {"address": address, "connections": 4, "seconds": seconds}
        many = _known(questions[KNOWN_SIZE][-KNOWN:], address)
        closed_304 = cost(lambda: closed(many, folder=settings.home, begin=0, **options))
        for connections in CONNECTIONS:
            for rate in rates:
                some = mixed[: round(rate * seconds)]

                def at_rate(some: list[Question] = some, n: int = connections, rate: float = rate) -> dict[str, Any]:
                    begun = time.perf_counter()
                    answered = opened(some, address=address, connections=n, per_second=rate)
                    return answered.told(time.perf_counter() - begun)

                open_loads[f"{connections} at {rate:g}/s"] = cost(at_rate, len(some))
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    return {
        "server": {"workers": settings.api_workers, "threads": settings.api_threads},
        "machine": machine,
        "load average": {"before": round(load, 2), "after": round(os.getloadavg()[0], 2)},
        "one at a time": single,
        "closed, mixed, by connections": closed_loads,
        "closed, known answers, 4 connections": closed_304,
        "open, mixed, by connections": open_loads,
    }


def _known(questions: Sequence[Question], address: str) -> list[Question]:
    """The same questions with the tags of their answers."""
    found = []
    with Line(address) as line:
        for question in questions:
            line.send(question)
            while line.receive() is None:
                pass
            found.append(replace(question, tag=line.header("etag") or ""))
    return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _print(result: dict[str, Any]) -> None:
    title = f"GET /campaigns, state on {result['state']}, {result['server']}; load {result['load average']}"
    table = Table("load", "requests/s", "p50 ms", "p99 ms", "max ms", "errors", "CPU ms", title=title)
    loads = {f"single: {name}": told for name, told in result["one at a time"].items()}
    loads |= {f"closed: {n} connections": told for n, told in result["closed, mixed, by connections"].items()}
    loads["closed: 304, 4 connections"] = result["closed, known answers, 4 connections"]
    loads |= {f"open: {name}": told for name, told in result["open, mixed, by connections"].items()}
    for name, told in loads.items():
        figures = [told[one] for one in ("requests per second", "p50 ms", "p99 ms", "max ms")]
        errors = told.get("errors", str(told.get("statuses")))
        table.add_row(name, *map(str, figures), str(errors), str(told["server CPU ms per request"]))
    Console().print(table)


if __name__ == "__main__":
    main()
