"""Where the names of ads come out, each with what it makes of every hostile one; what leaks fails an assertion."""

from __future__ import annotations

import csv
import email
import email.policy
import io
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pyarrow.parquet as pq
import structlog

from api import db, logs, mail_writing
from api.mail import on_one_line
from api.models import Import, OutgoingMail, Profile, WebhookEvent
from api.reports import figures
from api.reports.document import Brand, Order, render
from api.reports.figures import Figures
from api.served import profile_facts
from api.snapshot import snapshots
from api.v1.top_performers import bundle
from api.v1.top_performers.across import Leaderboard
from api.webhooks.emitting import content
from api.windows import DateRange
from orchestration.assets.landing_metadata import imports_metadata
from orchestration.lake import Lake
from tests.api.v1.campaigns.conftest import GOLDEN, PROFILE, WINDOW, Deployment, deployed
from tests.factories import accounts, served, shared
from tests.factories.hostile import HOSTILE, landed
from touchledger.settings import Settings

AS_IT_IS, NEVER = "as it is", "-"
TOP = json.loads((GOLDEN.parent / "top_performers" / "answers" / "workspace.json").read_text())[0]
PLAIN = {label: f"Name {number}" for number, label in enumerate(landed())}
Told = dict[str, str]


class Page(HTMLParser):
    """The tags and attributes of a document in their order, and its text."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.structure: list[tuple[str, tuple[str, ...]]] = []
        self.words = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.structure.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def _unchanged(found: Sequence[str]) -> Told:
    assert list(found) == list(landed().values())
    return dict.fromkeys(landed(), AS_IT_IS)


def _as_text(document: str, harmless: str) -> Told:
    """Names that are words of a page which is built as with harmless names."""
    page = Page(document)
    assert page.structure == Page(harmless).structure
    for name in landed().values():
        assert name in page.words
    return dict.fromkeys(landed(), "text")


def door(home: Path) -> Told:
    """The lake: landed, or in quarantine with a reason."""
    lake = Lake(home / "lake")
    lake.prepare()
    ids = {f"ad-{number}": label for number, label in enumerate(HOSTILE)}
    row = {"platform": "meta", "ad_set_id": "1", "campaign_id": "1", "status": "ACTIVE"}
    records = [{**row, "ad_id": ad, "name": HOSTILE[label]} for ad, label in ids.items()]
    landing = lake.land(dataset="ads", profile_id="p", source="meta", batch="b", records=records)
    assert landing.rows_in == landing.rows_loaded + landing.rows_quarantined == len(HOSTILE)
    found = {ids[one["ad_id"]]: one["name"] for one in pq.read_table(landing.path).to_pylist()}
    assert found == landed()
    told = {label: AS_IT_IS if name == HOSTILE[label] else "trimmed" for label, name in found.items()}
    bad = landing.bad_rows(len(HOSTILE))
    assert {one["field"] for one in bad} == {"name"}
    return told | {list(HOSTILE)[one["row"] - 1]: one["reason"] for one in bad}


def json_answer(home: Path) -> Told:
    """GET /campaigns, read from a served file."""
    with _deployment(home) as deployment:
        answer = deployment.new_caller().get("/campaigns", **WINDOW, limit="100")
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return _unchanged([row["campaign_name"] for row in sorted(answer.json["data"], key=_number)])


def _number(row: Any) -> int:
    return int(row["campaign_id"][-4:])


@contextmanager
def _deployment(home: Path) -> Iterator[Deployment]:
    for deployment in deployed(home):
        deployment.publish(_published(landed()))
        yield deployment


def _published(names: Told) -> dict[str, list[dict[str, object]]]:
    tables = served.from_csv(GOLDEN)
    entity = next(row for row in tables["entities"] if row["level"] == "campaign")
    delivery = next(row for row in tables["delivery_daily"] if row["day"] == WINDOW["date_from"])
    keys = dict(enumerate(names.values(), start=1000))
    tables["entities"] = [
        {**entity, "entity_key": key, "entity_id": f"aaaaaaaa-0000-8000-8000-00000000{key}", "platform_id": key,
         "name": name} for key, name in keys.items()
    ]  # fmt: skip
    tables["delivery_daily"] = [{**delivery, "entity_key": key} for key in keys]
    return {**tables, "credit_daily": [], "entity_reach": []}


def _figures(home: Path, names: Told) -> Figures:
    settings = Settings(home=home)
    served.publish(settings.published, served.from_csv(GOLDEN))
    with snapshots(settings).reader() as reader:
        assert reader is not None
        facts = profile_facts(reader, PROFILE)
        assert facts is not None
        of = Profile(name="Shop", timezone=facts.time_zone, reporting_currency=facts.currency)
        window = DateRange(date.fromisoformat(WINDOW["date_from"]), date.fromisoformat(WINDOW["date_to"]))
        found = figures.gather(reader, facts, window, level="campaign", of=of)
    snapshots(settings).close()
    return replace(found, entities=[{**found.entities[0], "campaign_name": name} for name in names.values()])


def _report(home: Path, names: Told, form: str) -> bytes:
    order = Order("performance_summary", "en", form, "Shop", Brand("Agency"))
    return render(order, _figures(home, names))


def report_csv(home: Path) -> Told:
    """A report as a spreadsheet."""
    rows = list(csv.DictReader(io.StringIO(_report(home, landed(), "csv").decode("utf-8-sig"), newline="")))
    told = {}
    for (label, name), row in zip(landed().items(), rows, strict=True):
        cell = row["campaign_name"]
        assert cell.replace("'", "") == name.replace("'", "")
        # what no program may take for a formula, whatever stands before it
        assert not re.match(r"(.*;)?[\s\ufeff\u200b\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20]", cell)
        told[label] = AS_IT_IS if cell == name else "marked as text"
    return told


def report_html(home: Path) -> Told:
    """A report as a page."""
    return _as_text(_report(home, landed(), "html").decode(), _report(home, PLAIN, "html").decode())


def report_pdf(home: Path) -> Told:
    """A report on paper."""
    document = _report(home, landed(), "pdf")
    held = [document]
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", document, re.S):
        try:
            held.append(zlib.decompress(packed))
        except zlib.error:
            continue
    for acting in (b"/JavaScript", b"/JS", b"/Launch", b"/EmbeddedFile", b"/URI", b"/SubmitForm", b"root:x:0"):
        assert not any(acting in one for one in held)
    return dict.fromkeys(landed(), "text")


def shared_page(home: Path) -> Told:
    """The page of a frozen leaderboard, and the same as JSON."""
    with _deployment(home) as deployment:
        url = deployment.settings.operational_url
        profile, client = accounts.profile(url), deployment.app.test_client()

        def shown(names: Told, kind: str) -> Any:
            rows = [{**TOP, "ad_name": name, "campaign_name": name, "ad_set_name": name} for name in names.values()]
            _, token = shared.snapshot(url, [profile], rows=rows, title=names["script"])
            answer = client.get(f"/shared/{token}", headers={"Accept": kind})
            assert answer.status_code == 200
            return answer

        told = _as_text(shown(landed(), "text/html").text, shown(PLAIN, "text/html").text)
        _unchanged([row["ad_name"] for row in shown(landed(), "application/json").json["data"]["rows"]])
    return told


def agents_bundle(_: Path) -> Told:
    """Top ads as files for a coding agent."""
    rows = [{**TOP, "ad_name": name, "ad_external_id": f"{n}"} for n, name in enumerate(landed().values())]
    ranked: Any = [SimpleNamespace(ad={**dict.fromkeys(("title", "body", "landing_host")), "title": row["ad_name"]})
                   for row in rows]  # fmt: skip
    of = Leaderboard(rows=rows, ranked=ranked, score_date=None, config_version=1, profiles_included=1, rates_as_of=None)
    made = {one.path: one.content for one in bundle.files(of, score_window="28d", currency="USD", locale="en")}
    for content_ in made.values():
        assert not re.search(r"[<>&\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", content_)
    for number, name in enumerate(landed().values()):
        brief = made[f"briefs/{number}.md"]
        fences = re.findall(r"^```json\n(.*?)\n```$", brief, re.M | re.S)
        assert brief.count("```") == 4 and json.loads(fences[1])["title"] == name
    _unchanged([row["ad_name"] for row in json.loads(made["ads.json"])["ads"]])
    return dict.fromkeys(landed(), "quoted as data")


def mail(home: Path) -> Told:
    """A message whose subject and text carry the name."""
    settings = Settings(home=home, smtp_from="Touchledger <reports@example.com>")
    told = {}
    for label, name in landed().items():
        one = OutgoingMail(id=db.new_id(), kind="t", to_address="ada@example.com", subject=on_one_line(name), text=name)
        one.created_at, one.attachments = db.now(), []
        message = email.message_from_bytes(mail_writing.written(settings, one), policy=email.policy.default)
        assert message.keys()[:6] == ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"]
        assert set(message.keys()[6:]) == {"Content-Type", "Content-Transfer-Encoding", "MIME-Version"}
        assert message["Subject"] == on_one_line(name)
        changed = {"=?": "not decoded", "\u202e": "turns nothing"}
        what = next((told_ for sign, told_ in changed.items() if sign in name), "on one line, 200 characters")
        told[label] = AS_IT_IS if on_one_line(name) == name else what
    return told


def webhook(_: Path) -> Told:
    """The body that subscribers get."""
    found = []
    for name in landed().values():
        event = WebhookEvent(id=db.new_id(), type="report.ready", data={"name": name}, workspace_id="w")
        event.occurred_at = db.now()
        found.append(json.loads(content(event))["data"]["name"])
    return _unchanged(found)


def log_line(_: Path) -> Told:
    """What the API writes of itself."""
    root, stream = logging.getLogger(), io.StringIO()
    level, handlers, raises = root.level, root.handlers[:], logging.raiseExceptions
    try:
        logs.configure("INFO", stream)
        for name in landed().values():
            structlog.get_logger("api.test").warning("connection_failed", error=name)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.raiseExceptions = raises
        structlog.reset_defaults()
    lines = stream.getvalue().rstrip("\n").split("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", stream.getvalue())
    assert [json.loads(line)["error"] for line in lines] == [logs.clean(name) for name in landed().values()]
    return dict.fromkeys(landed(), "one line of JSON")


def dagster_metadata(_: Path) -> Told:
    """What a run tells of a file that is named so."""
    found = []
    for name in landed().values():
        metadata = imports_metadata([Import(file_name=name, reason="empty", rows_loaded=0, rows_quarantined=0)], 0.0)
        kept = dg.deserialize_value(dg.serialize_value(dg.AssetMaterialization("landing", metadata=metadata)))
        assert isinstance(kept, dg.AssetMaterialization)
        found += list(kept.metadata["rejected files"].value)  # type: ignore[arg-type]
    # as in the log, without addresses
    assert found == [logs.clean(name) for name in landed().values()]
    return dict.fromkeys(landed(), AS_IT_IS)


OUTPUTS: dict[str, Callable[[Path], Told]] = {
    "the lake": door,
    "JSON of the API": json_answer,
    "report, CSV": report_csv,
    "report, HTML": report_html,
    "report, PDF": report_pdf,
    "shared page": shared_page,
    "bundle for agents": agents_bundle,
    "mail": mail,
    "webhook": webhook,
    "log": log_line,
    "Dagster metadata": dagster_metadata,
}
