"""The demo, from nothing to served figures: equal to the sandbox's ledger of truth to the cent, and the same twice."""

from __future__ import annotations

import signal
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from api import examples
from api.db import close_all_engines
from sandbox.ledger import LEVELS, REASONS, Credit, Ledger
from sandbox.ledger_weights import MODELS
from sandbox.world import build
from tests.end_to_end.command import Deployment, free_port
from tests.end_to_end.served import all_campaigns, answer, client_of, figures, rows_of
from tests.factories.deployments import settings_of
from tests.recording.deployment import placed
from tests.recording.likeness import differences
from tests.recording.walk import recorded
from touchledger.demo import DEMO_PROFILE_ID
from touchledger.settings import Settings

PEOPLE, DAYS = 900, 60
IN_ONE_FILE = {"operational.db", "operational.db-turn"}
TYPES = (
    "appointment_attended", "appointment_booked", "closed_won", "dm_started", "lead_created", "payment_received",
    "quote_presented",
)  # fmt: skip


class Demo:
    """A finished `up --once`, and the truth about its world."""

    def __init__(self, home: Path) -> None:
        ports = {name: str(free_port()) for name in ("API_PORT", "DAGSTER_PORT", "SANDBOX_PORT")}
        self.deployment = Deployment(home, {**ports, "DEMO_PEOPLE": str(PEOPLE), "DEMO_DAYS": str(DAYS)})
        self.printed = self.deployment.run("up", "--once")
        self.left = _database(home)
        settings = Settings(home=home)
        self.last = settings.demo_today
        self.first = self.last - timedelta(days=DAYS + 40)
        world = build(seed=settings.demo_seed, today=self.last, days=DAYS, people=PEOPLE)
        self.ledger = Ledger(world, DEMO_PROFILE_ID)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return Demo(tmp_path_factory.mktemp("demo") / "home")


def _database(home: Path) -> set[str]:
    return {path.name for path in home.glob("operational.db*")}


def _keyed(demo: Demo, query: str) -> dict[Any, tuple[Any, ...]]:
    return {row[0]: row[1:] for row in rows_of(demo.deployment.home, query)}


def _truth(credit: Credit) -> tuple[int, ...]:
    return (*(credit.counts.get(type, 0) for type in TYPES), credit.cash_minor)


SUMS = ", ".join(f"sum({type})::bigint" for type in TYPES) + ", sum(cash_minor)::bigint"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("level", LEVELS)
def test_credit_of_every_entity_is_the_ledgers(demo: Demo, model: str, level: str) -> None:
    served = _keyed(
        demo,
        f"select platform_id, {SUMS} from credit_daily c join entities e using (profile_key, level, entity_key)"
        f" where model = '{model}' and level = '{level}' group by 1",
    )
    truth = {entity: _truth(credit) for entity, credit in demo.ledger.credit(model, level, date.min, date.max).items()}
    assert served == truth
    assert len(truth) > 4


@pytest.mark.parametrize("model", MODELS)
def test_what_is_left_over_is_the_ledgers(demo: Demo, model: str) -> None:
    served = _keyed(
        demo,
        f"select reason, {SUMS} from unattributed_daily where model = '{model}' and level = 'campaign' group by 1",
    )
    left = demo.ledger.unattributed(model, "campaign", date.min, date.max)
    truth = {reason: _truth(credit) for reason, credit in left.items()}
    nothing = (0,) * (len(TYPES) + 1)
    assert {reason: served.get(reason, nothing) for reason in REASONS} == {
        reason: truth.get(reason, nothing) for reason in REASONS
    }


def test_totals_of_every_day_are_the_ledgers(demo: Demo) -> None:
    served = _keyed(demo, f"select day, {SUMS} from outcomes_daily group by 1")
    assert served == {day: _truth(credit) for day, credit in demo.ledger.outcomes().items()}


@pytest.mark.parametrize("level", LEVELS)
def test_spend_of_every_entity_and_day_is_the_ledgers(demo: Demo, level: str) -> None:
    rows = rows_of(
        demo.deployment.home,
        "select platform_id, day, spend_minor, impressions, clicks from delivery_daily"
        f" join entities using (profile_key, level, entity_key) where level = '{level}'",
    )
    truth = demo.ledger.spend_by_day(level, date.min + timedelta(days=1), date.max)
    assert {(entity, day): tuple(rest) for entity, day, *rest in rows} == {
        key: (row.spend_minor, row.impressions, row.clicks) for key, row in truth.items()
    }


def test_the_api_answers_with_the_same_figures(demo: Demo) -> None:
    key = (demo.deployment.home / "demo.key").read_text().strip()
    window = {"date_from": str(demo.first), "date_to": str(demo.last)}
    client = client_of(demo.deployment.home)
    rows = all_campaigns(client, key, **window)
    truth = demo.ledger.credit("last_touch", "campaign", demo.first, demo.last)
    assert {row["platform_id"]: row["outcome_value"] for row in rows if row["outcome_count"]} == {
        entity: credit.cash_minor / 100 for entity, credit in truth.items() if credit.counts.get("payment_received")
    }
    total = answer(client, key, "/campaigns/unattributed", **window)["data"]["profile_total"]
    assert total["outcome_value"] == demo.ledger.totals(demo.first, demo.last).cash_minor / 100


def _asked(demo: Demo, path: str, **query: object) -> Any:
    key = (demo.deployment.home / "demo.key").read_text().strip()
    window = {"date_from": str(demo.first), "date_to": str(demo.last)}
    return answer(client_of(demo.deployment.home), key, path, **window, **query)["data"]


def _money(minor: int) -> str:
    return f"{Decimal(minor) / 100:.2f}"


def test_clicks_that_named_no_ad_tell_the_campaign_of_their_links(demo: Demo) -> None:
    # the ads' links carry it, and not one click told it: nobody saw whose links are to be tagged anew
    rows = _asked(demo, "/quality/ad-ids", platform="meta", limit=100)["rows"]
    told = {row["utm_campaign"] for row in rows if row["reason"] == "no_ad_parameter"} - {None}
    campaigns = {row["platform_id"] for row in _asked(demo, "/campaigns", limit=100)}
    assert len(told) > 3 and told <= campaigns


@pytest.mark.parametrize("level", LEVELS)
def test_what_every_entity_claims_is_the_ledgers(demo: Demo, level: str) -> None:
    rows = _asked(demo, "/campaigns/platform-comparison", level=level, limit=1000)["rows"]
    claims = {row["platform_id"]: (row["platform_conversions"], row["platform_conversion_value"]) for row in rows}
    truth = demo.ledger.spend(level, demo.first, demo.last)
    assert {entity: claim for entity, claim in claims.items() if claim != (None, None)} == {
        entity: (row.claimed_purchases, _money(row.claimed_value_minor)) for entity, row in truth.items()
    }


@pytest.mark.parametrize("model", MODELS)
def test_each_platforms_over_claim_is_the_ledgers(demo: Demo, model: str) -> None:
    totals = {
        total["platform"]: total for total in _asked(demo, "/campaigns/platform-comparison", model=model)["platforms"]
    }
    delivered = demo.ledger.spend("campaign", demo.first, demo.last).values()
    credited = demo.ledger.credit(model, "campaign", demo.first, demo.last).values()
    unassigned = totals["meta"]["unassigned_cash_revenue"]
    claimed = sum(row.claimed_value_minor for row in delivered)
    cash = sum(credit.cash_minor for credit in credited) + int(Decimal(unassigned) * 100)
    meta = totals["meta"]
    assert meta["platform_conversions"] == sum(row.claimed_purchases for row in delivered)
    assert meta["platform_conversion_value"] == _money(claimed)
    assert meta["service_cash_revenue"] == _money(cash)
    assert meta["value_gap"] == _money(cash - claimed)
    assert meta["conversion_gap"] == meta["service_conversions"] - meta["platform_conversions"]
    assert meta["spend"] == _money(sum(row.spend_minor for row in delivered))
    assert len({claimed, cash, 0}) == 3
    assert (meta["reported_basis"], meta["has_delivery"]) == ("click_view_modeled", True)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("level", ["campaign", "ad"])
def test_what_is_unassigned_on_platforms_is_the_ledgers(demo: Demo, model: str, level: str) -> None:
    totals = _asked(demo, "/campaigns/platform-comparison", model=model, level=level)["platforms"]
    left = demo.ledger.unattributed(model, level, demo.first, demo.last)
    paid = [left[reason] for reason in ("paid_without_ad", "unknown_ad", "parent_only") if reason in left]
    if model not in ("linear", "time_decay"):
        counted = sum(sum(one.counts.values()) for one in paid)
        assert sum(total["unassigned_conversions"] for total in totals) == counted > 0
    cash = sum(Decimal(total["unassigned_cash_revenue"]) for total in totals)
    assert f"{cash:.2f}" == _money(sum(one.cash_minor for one in paid))


def test_an_ads_own_page_tells_the_same_claims_and_days(demo: Demo) -> None:
    truth = demo.ledger.spend("ad", demo.first, demo.last)
    dearest = sorted(truth, key=lambda ad: -truth[ad].spend_minor)[:10]
    ad = _asked(demo, f"/ads/{dearest[0]}")
    assert (ad["platform_reported_conversions"], ad["platform_reported_conversion_value"]) == (
        truth[dearest[0]].claimed_purchases,
        truth[dearest[0]].claimed_value_minor / 100,
    )
    assert ad["creative"]["creative_id"]
    days = demo.ledger.spend_by_day("ad", demo.first, demo.last)
    rows = _asked(demo, "/ads/trend")
    assert {row["ad_external_id"] for row in rows} == set(dearest)
    spent = {(row["ad_external_id"], date.fromisoformat(row["date"])): row["spend"] for row in rows}
    assert {key: spend for key, spend in spent.items() if spend} == {
        key: row.spend_minor / 100 for key, row in days.items() if key[0] in dearest and row.spend_minor
    }


def test_the_table_names_every_campaign_with_spend(demo: Demo) -> None:
    names = rows_of(
        demo.deployment.home,
        "select distinct name from entities join delivery_daily using (profile_key, level, entity_key)"
        " where level = 'campaign' and day > (select max(day) - 7 from delivery_daily)",
    )
    assert names
    assert [name for (name,) in names if name not in demo.printed] == []


def test_a_second_run_that_is_served_until_ctrl_c_changes_no_figure(demo: Demo) -> None:
    before, docs = figures(demo.deployment.home), Settings(home=demo.deployment.home).data_docs
    written = docs.stat().st_mtime_ns
    # the clients of the other tests live in this process, and would keep the database's log
    close_all_engines()
    served = demo.deployment.start("up")
    try:
        assert served.stdout
        assert any("Ctrl-C ends everything" in line for line in served.stdout)
        served.send_signal(signal.SIGINT)
        _, told = served.communicate(timeout=60)
    finally:
        served.kill()
    assert served.returncode == 0, told
    assert _database(demo.deployment.home) == IN_ONE_FILE
    assert figures(demo.deployment.home) == before
    assert docs.stat().st_mtime_ns == written, "the same models are described again"


def test_the_demo_ends_with_its_database_in_one_file(demo: Demo) -> None:
    assert demo.left == IN_ONE_FILE


# eight hundred requests, one after the other
@pytest.mark.timeout(900)
def test_what_the_reference_shows_is_what_is_asked_and_answered(demo: Demo, tmp_path: Path) -> None:
    people_and_days = {"demo_people": PEOPLE, "demo_days": DAYS}
    settings = settings_of(demo.deployment.home).model_copy(update=people_and_days)
    with placed(settings, tmp_path / "copy") as place:
        now = recorded(place)
    shown = examples.recorded()
    assert set(now) == set(shown)
    other = {name: differences(shown[name], now[name]) for name in shown}
    assert {name: found for name, found in other.items() if found} == {}, "python -m tests.recording records anew"
