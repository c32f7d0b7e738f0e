"""A report tells the figures of the API's own routes, of the snapshot it names."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from api import db
from api.models import Profile
from api.reports import document, making
from tests.api.reports.conftest import GOLDEN
from tests.api.v1.reports.conftest import Ask
from tests.api.v1.reports.test_reports import WINDOW, generate, hub, path_of
from tests.factories import accounts, served
from tests.factories.deployments import application
from touchledger.settings import Settings


@pytest.mark.parametrize("currency", ["USD", "EUR"])
def test_a_report_on_pacing_tells_what_the_workspace_is_told(
    ask: Ask, settings: Settings, profile: Profile, currency: str
) -> None:
    with db.transaction(settings.operational_url) as session:
        kept = session.get_one(Profile, profile.id)
        kept.monthly_budget, kept.reporting_currency = Decimal(3100), currency
    month = {"template": "pacing", "date_from": "2026-03-01", "date_to": "2026-03-31"}
    generate(ask, profile, **month)
    making.make_due(settings)
    (ready,) = hub(ask)["reports"]
    page = ask("GET", path_of(ready)).text
    (row,) = ask("GET", "/pacing?month=2026-03").get_json()["data"]["profiles"]
    assert (row["budget"] is None) == (currency == "EUR")
    for name in ("budget", "spend_mtd", "expected_spend", "projected_spend"):
        assert row[name] is None or f"USD {row[name]:,.2f}" in page
    assert ("3,100" in page) == (currency == "USD")


def test_figures_of_a_report_are_those_of_the_overview(ask: Ask, settings: Settings, profile: Profile) -> None:
    generate(ask, profile)
    making.make_due(settings)
    (ready,) = hub(ask)["reports"]
    page = ask("GET", path_of(ready)).text
    overview = application(settings).test_client().get(
        "/api/v1/overview",
        query_string=WINDOW,
        headers={"Authorization": f"Bearer {accounts.secret(settings.operational_url, profile)}"},
    ).get_json()  # fmt: skip
    assert overview["meta"]["snapshot_id"] == ready["snapshot_id"]
    current = overview["data"]["current"]
    for shown in (f"USD {current['spend']:.2f}", f"USD {current['revenue']:.2f}", f"{current['roas']:.2f}"):
        assert shown in page
    assert document.Brand("x").colors[0] in page


def test_a_spreadsheet_lists_every_campaign_and_a_page_the_best_of_them(
    ask: Ask, settings: Settings, profile: Profile
) -> None:
    tables = served.from_csv(GOLDEN)
    campaign = next(row for row in tables["entities"] if row["level"] == "campaign")
    delivery = next(row for row in tables["delivery_daily"] if row["day"] == WINDOW["date_from"])
    ids = [f"aaaaaaaa-0000-8000-8000-{n:012}" for n in range(1000, 1030)]
    more = {
        "entities": [{**campaign, "entity_key": n, "entity_id": one} for n, one in enumerate(ids, 1000)],
        "delivery_daily": [{**delivery, "level": "campaign", "entity_key": n} for n, _ in enumerate(ids, 1000)],
    }
    served.publish(settings.published, {**tables, **more, "credit_daily": [], "entity_reach": []}, token=2)
    for form in ("csv", "html"):
        generate(ask, profile, format=form)
    making.make_due(settings)
    files = {one["format"]: ask("GET", path_of(one)).data.decode("utf-8-sig") for one in hub(ask)["reports"]}
    assert [row["campaign_id"] for row in csv.DictReader(io.StringIO(files["csv"]))] == ids
    assert "The best 25 of 30 are shown." in files["html"]
