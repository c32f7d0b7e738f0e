"""The life of recommendations from snapshot to snapshot."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
import sqlalchemy as sa
import time_machine
from structlog.testing import capture_logs

from api import db, purge
from api.models import Profile, Recommendation, RecommendationLook, WebhookEvent
from api.one_by_one import Round
from api.recommendations import raising
from api.recommendations.facts import running_ads
from api.recommendations.raising import raise_due
from api.served import profile_facts
from api.snapshot import snapshots
from connectors.meta_rows import budget_step
from tests.api.recommendations.conftest import START, alter
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts
from tests.factories.scored import THROUGH, Scored, ad_id
from touchledger.settings import Settings

LOSER = {"attributed_revenue": (12.0, "high")}


def rows(settings: Settings) -> list[Recommendation]:
    with db.transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(Recommendation).order_by(Recommendation.created_at, Recommendation.id)))


def told(settings: Settings) -> list[tuple[str, str, str]]:
    return [(row.entity_external_id, row.kind, row.status) for row in rows(settings)]


def again(scored: Scored, clock: time_machine.Traveller, *, days: float = 1) -> None:
    """A new snapshot after some days, looked at."""
    clock.shift(timedelta(days=days))
    scored.publish()
    raise_due(scored.settings)


def test_a_snapshot_is_looked_at_once_for_each_profile(scored: Scored, settings: Settings) -> None:
    assert raise_due(settings) == 0
    scored.ad(1, 10.0, layers=LOSER)
    scored.publish()
    assert [raise_due(settings) for _ in range(3)] == [1, 0, 0]
    assert told(settings) == [("1", "pause", "open")]


def test_a_profile_whose_figures_cannot_be_told_holds_up_no_other(
    scored: Scored, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the one that fails is all that a turn takes
    monkeypatch.setattr(raising, "AT_ONCE", 1)
    going_round = Round()
    other = accounts.profile(settings.operational_url, profile_id="00000000-0000-7000-8000-000000000001")
    scored.ad(1, 10.0, layers=LOSER)
    scored.ad(2, 10.0, layers=LOSER)
    for row in (row for rows in scored.rows.values() for row in rows if row.get("entity_key") == 2):
        row["profile_key"] = 2
    facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": None, "settings_version": "v"}
    scored.rows["profiles"].append({"profile_key": 2, "profile_id": other.id, **facts})
    scored.publish()
    with capture_logs() as logged:
        assert [raise_due(settings, going_round) for _ in range(3)] == [0, 1, 0]
    assert [one["of"] for one in logged if one["event"] == "chore_failed"] == [other.id, other.id]
    assert told(settings) == [("1", "pause", "open")]


def test_what_is_told_is_figures_and_what_applying_would_do(scored: Scored, settings: Settings) -> None:
    layers = {"attributed_revenue": (81.6, "medium"), "attention": (70.0, "low")}
    scored.ad(1, 80.04, layers=layers, tier="medium", spend_minor=1000)
    scored.ad(2, 50.0, spend_minor=3000)
    scored.publish()
    raise_due(settings)
    (row,) = rows(settings)
    assert (row.kind, row.entity_id, row.entity_name, row.platform) == ("scale", ad_id(1), "Ad 1", "meta")
    # a quarter of the spend of two ads; a fifth more of the ad set's 9.00, in whole hundreds
    assert row.evidence == {
        "composite_score": 80.0, "maturity_stage": "calibrated", "primary_layer": "attributed_revenue",
        "primary_percentile": 82, "primary_confidence": "medium", "attention_percentile": 70,
        "click_intent_percentile": None, "spend": 10.0, "spend_share": 0.25, "fair_share": 0.5,
        "fatigue_risk_tier": "medium", "response_index": None, "delivery_days": 20,
    }  # fmt: skip
    assert (row.action_type, row.action_level, row.action_entity_id) == ("change_budget", "ad_set", ad_id(901))
    assert (row.from_minor, row.to_minor, row.currency) == (900, 1000, "EUR")
    assert (row.created_at, row.expires_at) == (START, START + timedelta(days=14))


@pytest.mark.parametrize(
    ("currency", "minor", "larger"),
    # Meta counts budgets in hundredths of these dinars, and refused 14808 thousandths
    [("BHD", 12340, 14800), ("USD", 1235, 1482), ("IDR", 45000, 54000), ("JPY", 40, 48)],
)
def test_a_recommended_budget_is_one_that_its_platform_takes(
    scored: Scored, settings: Settings, currency: str, minor: int, larger: int
) -> None:
    scored.ad(1, 80.0, layers={"attributed_revenue": (81.6, "medium")}, spend_minor=1000)
    scored.ad(2, 50.0, spend_minor=3000)
    (budgeted,) = (row for row in scored.rows["entities"] if row.get("daily_budget_minor") and row["entity_key"] == 901)
    budgeted |= {"daily_budget_minor": minor, "budget_currency": currency}
    scored.publish()
    raise_due(settings)
    (row,) = rows(settings)
    assert (row.from_minor, row.to_minor, row.currency) == (minor, larger, currency)
    assert row.to_minor is not None
    assert row.to_minor % budget_step(currency) == 0


def test_only_scaling_moves_a_budget_which_the_campaign_may_have_or_nobody(scored: Scored, settings: Settings) -> None:
    campaign, ad_set = scored.rows["entities"]
    ad_set["daily_budget_minor"] = None
    scored.ad(1, 80.0, layers={"attributed_revenue": (81.6, "medium")}, spend_minor=1000)
    scored.ad(2, 50.0, tier="high", spend_minor=3000)
    for budget, moved in ((5000, ("change_budget", "campaign", ad_id(900), 6000)), (None, ("none", None, None, None))):
        campaign |= {"daily_budget_minor": budget, "budget_currency": "EUR"}
        scored.publish()
        raise_due(settings)
        found = {
            one.kind: (one.action_type, one.action_level, one.action_entity_id, one.to_minor) for one in rows(settings)
        }
        assert found == {"scale": moved, "refresh": ("none", None, None, None)}


def test_an_ad_that_does_not_run_needs_no_decision(scored: Scored, settings: Settings) -> None:
    scored.ad(1, 10.0, layers=LOSER, last_day=THROUGH - timedelta(days=7))
    scored.ad(2, 10.0, layers=LOSER, status="PAUSED")
    scored.ad(3, 10.0, layers=LOSER, last_day=THROUGH - timedelta(days=6))
    scored.publish()
    raise_due(settings)
    assert told(settings) == [("3", "pause", "open")]


@pytest.mark.parametrize("parent", ["ad_set", "campaign"])
def test_an_ad_below_what_is_paused_needs_no_decision(scored: Scored, settings: Settings, parent: str) -> None:
    # a larger budget was recommended for a campaign that somebody had paused the day before
    scored.ad(1, 90.0, spend_minor=1000)
    scored.ad(2, 50.0, spend_minor=3000)
    (above,) = (row for row in scored.rows["entities"] if row["level"] == parent)
    above["status"] = "PAUSED"
    scored.publish()
    raise_due(settings)
    assert told(settings) == []


def test_while_its_ground_holds_a_recommendation_stands_and_is_renewed(
    scored: Scored, settings: Settings, clock: time_machine.Traveller
) -> None:
    scored.ad(1, 10.0, layers=LOSER)
    again(scored, clock, days=0)
    scored.without(1)
    scored.ad(1, 8.0, layers=LOSER)
    again(scored, clock)
    (row,) = rows(settings)
    assert (row.status, row.evidence["composite_score"], row.created_at) == ("open", 8.0, START)
    assert row.expires_at == START + timedelta(days=15)


def test_it_expires_when_its_ground_is_gone_or_its_ad_is(
    scored: Scored, settings: Settings, clock: time_machine.Traveller
) -> None:
    scored.ad(1, 10.0, layers=LOSER)
    scored.ad(2, 10.0, layers=LOSER)
    scored.ad(3, 10.0, layers=LOSER)
    again(scored, clock, days=0)
    # one of another profile, at which this look does not look
    alter(settings, "3", profile_id=accounts.profile(settings.operational_url).id)
    for key in (1, 2, 3):
        scored.without(key)
    scored.ad(1, 50.0, layers=LOSER)
    again(scored, clock)
    assert told(settings) == [("1", "pause", "expired"), ("2", "pause", "expired"), ("3", "pause", "open")]


def test_a_stronger_one_supersedes_and_a_weaker_one_follows_what_expired(
    scored: Scored, settings: Settings, clock: time_machine.Traveller
) -> None:
    scored.ad(1, 50.0, tier="high")
    again(scored, clock, days=0)
    scored.without(1)
    scored.ad(1, 10.0, tier="high", layers=LOSER)
    again(scored, clock)
    scored.without(1)
    scored.ad(1, 50.0, tier="high")
    again(scored, clock)
    assert told(settings) == [("1", "refresh", "superseded"), ("1", "pause", "expired"), ("1", "refresh", "open")]


@pytest.mark.parametrize("decision", ["dismissed", "applied"])
def test_what_was_decided_is_not_suggested_for_14_days_and_something_else_is(
    scored: Scored, settings: Settings, clock: time_machine.Traveller, decision: str
) -> None:
    scored.ad(1, 10.0, layers=LOSER)
    again(scored, clock, days=0)
    alter(settings, "1", status=decision, decided_at=db.now())
    again(scored, clock, days=13.99)
    assert told(settings) == [("1", "pause", decision)]
    scored.without(1)
    scored.ad(1, 10.0, layers=LOSER, tier="critical")
    again(scored, clock, days=0.005)
    assert told(settings)[1:] == [("1", "refresh", "open")]
    again(scored, clock, days=0.01)
    assert told(settings)[1:] == [("1", "refresh", "superseded"), ("1", "pause", "open")]


def test_what_no_snapshot_confirms_for_14_days_expires(
    scored: Scored, settings: Settings, clock: time_machine.Traveller
) -> None:
    for key in (1, 2):
        scored.ad(key, 10.0, layers=LOSER)
    again(scored, clock, days=0)
    alter(settings, "2", status="dismissed")
    clock.shift(timedelta(days=14, microseconds=-1))
    raise_due(settings)
    assert told(settings)[0][2] == "open"
    clock.shift(timedelta(microseconds=1))
    raise_due(settings)
    assert [status for *_, status in told(settings)] == ["expired", "dismissed"]


def indexes(scored: Scored) -> dict[str, float | None]:
    """The response index by ad, in a new snapshot."""
    scored.publish()
    with snapshots(scored.settings).reader() as reader:
        assert reader is not None
        facts = profile_facts(reader, str(scored.rows["profiles"][0]["profile_id"]))
        assert facts is not None
        return {ad.external_id: ad.response_index for ad in running_ads(reader, facts)}


def test_the_response_index_compares_the_last_week_with_days_4_to_10(scored: Scored, settings: Settings) -> None:
    """First ten days 100 clicks at 1.00 a day, last week 40: usual rate 1 click a cent, (280 + 5) / (700 + 5)."""
    first = date(2026, 3, 8)
    for key in (1, 2):
        scored.ad(key, 50.0)
        scored.rows["delivery_daily"] = [one for one in scored.rows["delivery_daily"] if one["entity_key"] != key]
        scored.deliver(key, first + timedelta(days=9), days=10, clicks=100)
    scored.deliver(1, THROUGH, days=7, clicks=40)
    scored.deliver(2, THROUGH, days=7, clicks=100)
    found = indexes(scored)
    # 700 clicks of days 4 to 10 for 700 cents, and five for what five cost over the root: 2980 clicks for 3400
    usual = 700 * (700 + 5) / (700 + 5 * 3400 / 2980)
    assert found["1"] == pytest.approx((280 + 5) / (usual + 5))
    assert found["2"] == pytest.approx((700 + 5) / (usual + 5))
    raise_due(settings)
    assert told(settings) == [("1", "refresh", "open")]
    assert rows(settings)[0].evidence["response_index"] == round(found["1"] or 0, 4)


def test_the_days_of_the_response_index_are_those_with_impressions(scored: Scored) -> None:
    """An ad that paused after three days: days 4 to 10 are those after the pause, and 16 days are one too few."""
    for key, late in ((1, 14), (2, 13)):
        scored.ad(key, 50.0)
        scored.rows["delivery_daily"] = [one for one in scored.rows["delivery_daily"] if one["entity_key"] != key]
        scored.deliver(key, date(2026, 2, 3), days=3, clicks=1)
        # an hour of the next day was paid for, and shown to nobody
        scored.deliver(key, date(2026, 2, 4), days=1, clicks=0)
        scored.rows["delivery_daily"][-1]["impressions"] = 0
        scored.deliver(key, THROUGH - timedelta(days=7), days=late - 7, clicks=100)
        scored.deliver(key, THROUGH, days=7, clicks=40)
    usual = 700 * (700 + 5) / (700 + 5 * 3500 / 1866)
    assert indexes(scored) == {"1": pytest.approx((280 + 5) / (usual + 5)), "2": None}


def test_an_archived_profile_keeps_no_recommendation(scored: Scored, settings: Settings, profile: Profile) -> None:
    scored.ad(1, 10.0, layers=LOSER)
    scored.publish()
    raise_due(settings)
    with db.transaction(settings.operational_url) as session:
        purge.retire(session, [profile.id], at=db.now())
    scored.publish()
    raise_due(settings)
    assert rows(settings) == []
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(RecommendationLook)).all() == []


def test_subscribers_are_told_of_a_new_recommendation_once(
    scored: Scored, settings: Settings, clock: time_machine.Traveller, profile: Profile
) -> None:
    subscribed(settings, profile)
    scored.ad(1, 10.0, layers=LOSER)
    again(scored, clock, days=0)
    again(scored, clock)
    with db.transaction(settings.operational_url) as session:
        (event,) = session.scalars(sa.select(WebhookEvent))
    (row,) = rows(settings)
    entity = {"level": "ad", "external_id": row.entity_external_id, "platform": "meta"}
    assert event.type == "recommendation.opened"
    assert event.data == {"recommendation_id": row.id, "kind": "pause", "entity": entity}
