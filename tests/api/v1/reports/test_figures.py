"""A report tells the figures of the API's own routes, of the snapshot it names."""

from __future__ import annotations

from api.models import Profile
from api.reports import document, making
from tests.api.v1.reports.conftest import Ask
from tests.api.v1.reports.test_reports import WINDOW, generate, hub, path_of
from tests.factories import accounts
from tests.factories.deployments import application
from touchledger.settings import Settings


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
