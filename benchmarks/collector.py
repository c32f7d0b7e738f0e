"""Events at an even rate against the API as it is served, with reads beside them: `python -m benchmarks.collector`.

Arrivals are open: an event is due when it is due, however long the one before it takes, and its time runs from then.
What is not acknowledged is sent again, as a tracker does. In the end the database is asked for every event by its id.
"""

from __future__ import annotations

import json
import os
import queue
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from api import credentials, db, tracking_keys
from api.models import CollectedEvent, IngestedRecord, Profile, Workspace
from tests.factories import served
from touchledger.settings import REPOSITORY, Settings
from touchledger.state import prepare
from touchledger.supervisor import Supervisor

RESULTS = Path(__file__).parent / "results"
GOLDEN = REPOSITORY / "tests" / "golden" / "campaigns"
PROFILE = "01900000-0000-7000-8000-00000000aaaa"
ADDRESSES, KEYS, READERS, SENDERS = 60, 4, 4, 48
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
READS = ("/api/v1/campaigns", "/api/v1/campaigns/platform-comparison", "/api/v1/overview")
DAYS = "?date_from=2026-02-20&date_to=2026-03-02"
PORT = 8123


@dataclass
class Seen:
    """What the senders saw; seconds run from when an event was due."""

    acknowledged: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    failed_reads: int = 0


@click.command()
@click.option("--seconds", default=60, show_default=True, help="How long events arrive.")
@click.option("--per-minute", default=10_000, show_default=True, help="How many arrive in a minute.")
@click.option("--reads", default=3.0, show_default=True, help="Reads a second beside them.")
@click.option("--database", default=None, help="Address of an empty Postgres database; SQLite without.")
def main(seconds: int, per_minute: int, reads: float, database: str | None) -> None:
    """Measure, print the table, and keep it under benchmarks/results."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        environment = {
            "TOUCHLEDGER_HOME": str(home),
            "TOUCHLEDGER_API_PORT": str(PORT),
            "TOUCHLEDGER_LOG_LEVEL": "INFO",
        }
        environment |= {"TOUCHLEDGER_DATABASE_URL": database} if database else {}
        os.environ.update(environment)
        result = measure(Settings(), seconds=seconds, per_minute=per_minute, reads=reads)
    RESULTS.mkdir(exist_ok=True)
    name = f"collector-{'postgres' if database else 'sqlite'}-{seconds}s.json"
    (RESULTS / name).write_text(json.dumps(result, indent=2) + "\n")
    table = Table("figure", "value", title=f"{per_minute} events a minute for {seconds} s, {reads:g} reads a second")
    for figure, value in result.items():
        table.add_row(figure, str(value))
    Console().print(table)
    if result["lost"] or result["double"] or result["unacknowledged"]:
        sys.exit(1)


def measure(settings: Settings, *, seconds: int, per_minute: int, reads: float) -> dict[str, Any]:
    """What was sent, acknowledged and kept, and how long it took."""
    keys, secrets = _deployment(settings)
    events = [_event(keys, number) for number in range(seconds * per_minute // 60)]
    seen = Seen()
    command = [sys.executable, "-m", "gunicorn", "--no-control-socket", "--workers", str(settings.api_workers)]
    command += ["--threads", str(settings.api_threads), "--bind", f"127.0.0.1:{PORT}", "api.wsgi:app"]
    with Supervisor(settings.home / "logs") as supervisor:
        child = supervisor.start("api", command)
        supervisor.wait_until_answers(child, f"http://127.0.0.1:{PORT}/healthz", within=60)
        began = time.monotonic()
        _load(events, secrets, seen, per_second=per_minute / 60, reads=reads)
        took = time.monotonic() - began
    return {**_told(events, seen, took), **_kept(settings, events, seen)}


def _deployment(settings: Settings) -> tuple[list[str], list[str]]:
    prepare(settings)
    served.publish(settings.published, served.from_csv(GOLDEN))
    with db.transaction(settings.operational_url) as session:
        workspace = Workspace(name="Benchmark")
        session.add(workspace)
        session.flush()
        named = {"workspace_id": workspace.id, "name": "Shop", "timezone": "UTC", "reporting_currency": "USD"}
        session.add(Profile(id=PROFILE, **named))
        session.flush()
        keys = [tracking_keys.mint(session, PROFILE).key for _ in range(KEYS)]
        secrets = [credentials.mint_api_key(session, profile_id=PROFILE, name="reads")[1] for _ in range(READERS)]
    return keys, secrets


def _event(keys: list[str], number: int) -> tuple[str, dict[str, Any]]:
    """Visits of four pages each; every second visit from an ad, every eighth with a lead."""
    visit, page = divmod(number, 4)
    query = f"?ad_platform=meta&campaign_id=c1&ad_set_id=s1&ad_id=a{visit % 50}" if page == 0 and visit % 2 else ""
    is_lead = page == 3 and visit % 8 == 0
    body = {
        "trackingKey": keys[visit % len(keys)],
        "eventId": f"event-{number}",
        "eventName": "lead_submitted" if is_lead else "page_view",
        "anonymousId": f"browser-{visit}",
        "sessionId": f"session-{visit}",
        "pageUrl": f"https://shop.example/page-{page}{query}",
        "referrer": "https://shop.example/" if page else "https://www.google.com/",
        "locale": "en-GB",
        "timezone": "Europe/London",
        "payload": {"title": "A page of a shop", "width": 1440},
        **({"identify": {"email": f"person-{visit}@example.com"}} if is_lead else {}),
    }
    return f"127.0.0.{2 + visit % ADDRESSES}", body


def _load(
    events: list[tuple[str, dict[str, Any]]], secrets: list[str], seen: Seen, *, per_second: float, reads: float
) -> None:
    due: queue.Queue[tuple[float, str, dict[str, Any]] | None] = queue.Queue()
    senders = [threading.Thread(target=_send_all, args=(due, seen)) for _ in range(SENDERS)]
    is_over = threading.Event()
    reader = threading.Thread(target=_read_all, args=(secrets, seen, reads, is_over))
    for thread in (*senders, reader):
        thread.start()
    began = time.monotonic()
    for number, (address, body) in enumerate(events):
        at = began + number / per_second
        time.sleep(max(0.0, at - time.monotonic()))
        due.put((at, address, body))
        # one in a hundred comes twice: the page was left while its answer was under way
        if number % 100 == 0:
            due.put((at, address, body))
    for _ in senders:
        due.put(None)
    for thread in senders:
        thread.join()
    is_over.set()
    reader.join()


def _send_all(due: queue.Queue[tuple[float, str, dict[str, Any]] | None], seen: Seen) -> None:
    while (one := due.get()) is not None:
        at, address, body = one
        now = time.time() - (time.monotonic() - at)
        text = json.dumps({**body, "eventTimeClient": int(now * 1000)})
        for attempt in range(20):
            answer = _answer(lambda: _posted(address, text))  # noqa: B023 - called before the loop goes on
            seen.answers[answer] += 1
            if answer == "202":
                seen.acknowledged.add(body["eventId"])
                seen.seconds.append(time.monotonic() - at)
                break
            time.sleep(0.2 * (attempt + 1))


def _posted(address: str, text: str) -> int:
    connection = HTTPConnection("127.0.0.1", PORT, timeout=30, source_address=(address, 0))
    try:
        headers = {"Content-Type": "text/plain", "User-Agent": AGENT, "Origin": "https://shop.example"}
        connection.request("POST", "/api/tracking/collect", body=text, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def _answer(post: Callable[[], int]) -> str:
    try:
        return str(post())
    except (OSError, HTTPException) as problem:
        return type(problem).__name__


def _read_all(secrets: list[str], seen: Seen, per_second: float, is_over: threading.Event) -> None:
    for number in _counted(per_second, is_over):
        connection = HTTPConnection("127.0.0.1", PORT, timeout=30)
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {secrets[number % len(secrets)]}"}
        connection.request("GET", f"{READS[number % len(READS)]}{DAYS}", headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        seen.reads.append(time.monotonic() - began)
        seen.failed_reads += answer.status != 200


def _counted(per_second: float, is_over: threading.Event) -> Iterator[int]:
    number = 0
    while per_second and not is_over.wait(1 / per_second):
        yield number
        number += 1


def _told(events: list[Any], seen: Seen, took: float) -> dict[str, Any]:
    return {
        "sent": len(events),
        "acknowledged": len(seen.acknowledged),
        "unacknowledged": len(events) - len(seen.acknowledged),
        "answers": dict(sorted(seen.answers.items())),
        "seconds": round(took, 1),
        "p50_ms": _milliseconds(seen.seconds, 50),
        "p99_ms": _milliseconds(seen.seconds, 99),
        "max_ms": round(max(seen.seconds, default=0.0) * 1000, 1),
        "reads": len(seen.reads),
        "failed_reads": seen.failed_reads,
        "read_p50_ms": _milliseconds(seen.reads, 50),
        "read_p99_ms": _milliseconds(seen.reads, 99),
    }


def _kept(settings: Settings, events: list[tuple[str, dict[str, Any]]], seen: Seen) -> dict[str, Any]:
    with db.transaction(settings.operational_url) as session:
        kept = Counter(session.scalars(sa.select(CollectedEvent.event_id)))
        sets = sa.select(IngestedRecord.dataset, sa.func.count()).group_by(IngestedRecord.dataset)
        became = {dataset: count for dataset, count in session.execute(sets).all()}  # noqa: C416 - rows are no pairs
    db.close_engines(settings.operational_url)
    visits = len({body["sessionId"] for _, body in events})
    leads = sum(body["eventName"] == "lead_submitted" for _, body in events)
    return {
        "kept": len(kept),
        "lost": len(seen.acknowledged - kept.keys()),
        "double": sum(count - 1 for count in kept.values())
        + max(0, became.get("touches", 0) - visits)
        + max(0, became.get("conversions", 0) - leads),
        "visits": visits,
        "touches": became.get("touches", 0),
        "leads": leads,
        "conversions": became.get("conversions", 0),
    }


def _milliseconds(seconds: list[float], percent: int) -> float:
    return round(statistics.quantiles(seconds, n=100)[percent - 1] * 1000, 1) if len(seconds) > 1 else 0.0


if __name__ == "__main__":
    main()
