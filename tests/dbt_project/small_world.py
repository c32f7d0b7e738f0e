"""A few records of many sets, each there for one rule of the models; figures are small enough to add by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.dbt_project.identity_reference import Statement, draw
from tests.dbt_project.project import Project

CHAIN = 400
CROWD = draw(seed=11, count=500)
AD = {"platform": "meta", "ad_account_id": "act_1", "currency": "EUR", "impressions": 1000, "clicks": 10}


def land(project: Project) -> None:
    """Land everything; profile `p` reports in US dollars, `q` in yen, `gone` is archived."""
    project.land_profiles(
        {"profile_id": "p"},
        {"profile_id": "q", "currency": "JPY", "currency_digits": 0, "time_zone": "Asia/Tokyo"},
        {"profile_id": "crowd"},
        {"profile_id": "gone", "is_active": False},
    )
    project.land("conversions", crowd(), profile_id="crowd")
    project.land("identities", typed(), profile_id="crowd")
    # all of it once more and the last ones first, which makes nobody somebody else
    project.land("identities", typed(again=True), profile_id="crowd", batch="again")
    project.land("touches", [_touch("t1", email="ann@example.com"), _touch("t1-of-q", anonymous_id="a")])
    project.land("touches", _chain(), batch="chain")
    project.land("touches", _cafe(), batch="cafe")
    project.land("touches", [_touch("t1", email="ann@example.com")], profile_id="q")
    dated = [_touch(key, email="ann@example.com", updated_at=minute(1)) for key in ("taken", "back", "kept")]
    withdrawals = [{"touch_key": key, "_deleted": True} for key in ("taken", "back")]
    back = _touch("back", email="ann@example.com", updated_at=minute(0))
    for batch, rows in (("dated", dated), ("withdrawn", withdrawals), ("back", [back])):
        project.land("touches", rows, profile_id="q", batch=batch)
    _land_people(project)
    _land_pairs(project)
    _land_entities(project)
    _land_delivery(project)
    rates = [("2026-03-01", "EUR", "USD", "1.1"), ("2026-03-01", "EUR", "JPY", "160")]
    names = ("rate_date", "base", "quote", "rate")
    project.land("fx_rates", [dict(zip(names, rate, strict=True)) for rate in rates], profile_id=None)


def _touch(key: str, **columns: Any) -> dict[str, Any]:
    # a later touch than any other unless it says so
    return {
        "touch_key": key,
        "occurred_at": "2026-03-20T12:00:00Z",
        "channel": "web",
        "origin": "web",
        "is_direct": True,
        **columns,
    }


def _chain() -> list[dict[str, Any]]:
    """One person who changed e-mail and device in turn, CHAIN times."""
    links = range(CHAIN)
    return [
        _touch(f"chain{i}", email=f"c{(i + 1) // 2}@example.com", anonymous_id=f"d{i // 2}", occurred_at=minute(i))
        for i in links
    ]


def _cafe() -> list[dict[str, Any]]:
    """A device in a café that four guests used, and one visit on it by nobody known."""
    guests = ["dora", "carl", "bob", "eve"]
    seen = [
        _touch(f"cafe{i}", anonymous_id="cafe", email=f"{guest}@example.com", occurred_at=minute(i))
        for i, guest in enumerate(guests)
    ]
    return [*seen, _touch("cafe-alone", anonymous_id="cafe")]


def crowd() -> list[dict[str, Any]]:
    """The crowd's statements that rows make by what they carry."""
    return [
        {
            "conversion_key": f"k{statement.at}",
            "occurred_at": minute(statement.at),
            "conversion_type": "lead_created",
            **{kind: _spelt(kind, value) for kind, value in statement.nodes},
        }
        for statement in CROWD
        if not statement.typed
    ]


def pages() -> list[dict[str, Any]]:
    """What browsers saw: those of the crowd ten days before anything else of theirs, and two of nobody we know."""
    browsers = sorted({str(record["anonymous_id"]) for record in crowd() if record.get("anonymous_id")})
    return [
        {
            "event_id": f"{browser} {on}",
            "profile_id": "crowd",
            "event_name": "page_view",
            "occurred_at": f"2026-02-{on:02}T02:00:00Z",
            "received_at": f"2026-02-{on:02}T02:00:01Z",
            "anonymous_id": browser,
            "session_id": f"{browser} {on // 2}",
            "opens_visit": on % 2 == 0,
        }
        for browser in [*browsers, "nobody", "nobody else"]
        for on in range(11, 15)
    ]


def typed(*, again: bool = False) -> list[dict[str, Any]]:
    """The crowd's statements that were typed in, or the same ones as they were typed again in the opposite order."""
    statements = [statement for statement in CROWD if statement.typed]
    later = max(statement.at for statement in statements) * 2
    return [pair(replace(one, at=later - one.at) if again else one) for one in statements]


def pair(statement: Statement) -> dict[str, Any]:
    """A statement of two identifiers as somebody typed it in."""
    (kind_a, a), (kind_b, b) = sorted(statement.nodes)
    return {
        "kind_a": kind_a,
        "value_a": _spelt(kind_a, a),
        "kind_b": kind_b,
        "value_b": _spelt(kind_b, b),
        "observed_at": minute(statement.at),
        "confidence": "typed",
    }


def _spelt(kind: str, value: str) -> str:
    """The identifier in the form its contract asks for."""
    number = int(value.removeprefix(kind))
    return {"email": f"{value}@example.com", "phone": f"+1212555{number:04d}"}.get(kind, value)


def spelt(node: tuple[str, str]) -> tuple[str, str]:
    """A drawn identifier as the warehouse holds it."""
    return node[0], _spelt(*node)


def minute(i: int) -> str:
    """When a drawn statement was made."""
    return (datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=i)).isoformat()


def _land_people(project: Project) -> None:
    lines = [{"person_key": "by line", "first_name": "Earlier"}, {"person_key": "by line", "first_name": "Later"}]
    project.land("people", lines, profile_id="q", batch="a")
    one, two, three = ({"person_key": key, "first_name": "Earlier"} for key in ("by file", "by time", "withdrawn"))
    two["updated_at"] = "2026-03-02T00:00:00Z"
    project.land("people", [one, two, three], profile_id="q", batch="b")
    older = {**two, "first_name": "Later", "updated_at": "2026-03-01T00:00:00Z"}
    project.land(
        "people", [{**one, "first_name": "Later"}, older, {**three, "_deleted": True}], profile_id="q", batch="c"
    )
    # a withdrawal needs no time, and takes what had landed, whatever time that told
    dated = [{**two, "person_key": key} for key in ("taken", "back")]
    project.land("people", dated, profile_id="q", batch="d")
    project.land(
        "people", [{"person_key": row["person_key"], "_deleted": True} for row in dated], profile_id="q", batch="e"
    )
    back = {**older, "person_key": "back"}
    project.land("people", [back], profile_id="q", batch="f")


def _land_pairs(project: Project) -> None:
    typed, changed, gone = {"confidence": "typed"}, {"updated_at": minute(0)}, {"_deleted": True}
    # of each pair what one batch after the other says, and the hour at which it was seen
    told: dict[str, list[tuple[int, dict[str, Any]]]] = {
        "seen again": [(10, {}), (9, typed), (11, typed)],
        "certain later": [(10, typed), (11, {})],
        "corrected": [(10, {}), (9, {}), (12, typed | changed)],
        "seen after": [(9, {}), (12, typed | changed), (13, {})],
        "said anew": [(10, {}), (9, gone), (11, typed)],
        "withdrawn": [(10, changed), (11, {}), (11, gone)],
    }
    pair = {"kind_a": "anonymous_id", "kind_b": "email", "value_b": "pair@example.com"}
    for name, versions in told.items():
        for turn, (hour, said) in enumerate(versions):
            row = {**pair, "value_a": name, "observed_at": minute(60 * hour), **said}
            project.land("identities", [row], profile_id="q", batch=f"{name} {turn}".replace(" ", "_"))


def _land_entities(project: Project) -> None:
    campaign = {"platform": "meta", "campaign_id": "c1", "ad_account_id": "act_1", "status": "ACTIVE"}
    project.land("campaigns", [{**campaign, "name": "Old", "updated_at": "2026-03-01T00:00:00Z"}], batch="a")
    project.land("campaigns", [{**campaign, "name": "New", "updated_at": "2026-03-03T00:00:00Z"}], batch="b")
    project.land("campaigns", [{**campaign, "name": "Older", "updated_at": "2026-02-01T00:00:00Z"}], batch="c")
    project.land("campaigns", [{**campaign, "campaign_id": "c9", "name": "Withdrawn", "_deleted": True}], batch="d")


def _land_delivery(project: Project) -> None:
    first = {**AD, "ad_id": "a1", "ad_set_id": "s1", "campaign_id": "c1", "date": "2026-03-01"}
    second = {**first, "ad_id": "a2", "ad_set_id": "s2"}
    project.land("ad_delivery", [{**first, "spend": "5.00"}], batch="day-2026-03-01")
    # the day is sent again whole, revised
    project.land("ad_delivery", [{**first, "spend": "10.05"}, {**second, "spend": "0.05"}], batch="day-2026-03-01")
    unpriced = {**first, "date": "2026-05-01", "spend": "7.00"}
    project.land("ad_delivery", [unpriced], batch="day-2026-05-01")
    project.land("ad_delivery", [{**first, "spend": "10.05"}], profile_id="q", batch="day-2026-03-01")
    project.land("ad_delivery", [{**first, "spend": "1.00"}], profile_id="gone", batch="day-2026-03-01")
