"""The reads: what the demo's figures, people, orders and places are."""

from __future__ import annotations

from typing import Any

import time_machine
from pydantic import SecretStr

from api.app import create_app
from api.v1.retired import SINCE
from tests.recording.deployment import Place
from tests.recording.who import Who

WINDOW = {"date_from": "2026-10-20", "date_to": "2026-11-16"}
AD, CAMPAIGN = "120230000000009011", "120210000000010008"


def campaigns(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    first = ask("campaign_performance", who.key, query={**WINDOW, "limit": 1})
    ask("campaign_trend", who.key, query={**WINDOW, "entity_ids": first[0]["campaign_id"]})
    ask("unattributed_remainder", who.key, query={**WINDOW, "level": "campaign"})
    ask("platform_comparison", who.key, query={**WINDOW, "limit": 1})
    ask("ad_detail", who.key, at={"ad_id": AD}, query=WINDOW)
    ask("ad_trend", who.key, query=WINDOW)
    ask("campaign_status", who.key, at={"campaign_id": CAMPAIGN})
    place.recorder.refused("campaign_status", "campaign_not_found", who.key, at={"campaign_id": "120210000000099999"})
    model = {**WINDOW, "model": "last_tuoch"}
    place.recorder.refused("campaign_performance", "invalid_parameter", who.key, query=model)
    backwards = {"date_from": WINDOW["date_to"], "date_to": WINDOW["date_from"]}
    place.recorder.refused("campaign_performance", "invalid_date_range", who.key, query=backwards)


def outcomes(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("ad_people", who.key, query={**WINDOW, "group_by": "month"})
    ask("paid_clicks_without_ad", who.key, query={**WINDOW, "limit": 1})
    ask("overview", who.key, query=WINDOW)
    ask("timeseries", who.key, query=WINDOW)
    ask("declared_sources", who.key, query=WINDOW)
    ask("visitors_online", who.key)
    ask("conversion_counts", who.key, query=WINDOW)
    ask("conversion_timeseries", who.key, query=WINDOW)
    paid = {**WINDOW, "type": "payment_received", "limit": 1}
    listed = ask("conversion_list", who.key, query=paid)
    ask("conversion_journey", who.key, at={"handle": listed[0]["conversion_id"]})


def people(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    known = ask("customer_list", who.key, query={**WINDOW, "limit": 1})
    ask("customer_journey", who.key, query={"customer_key": known[0]["customer_key"], "limit": 2})
    ask("visitor_list", who.key, query={**WINDOW, "limit": 1})


def commerce(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("product_list", who.key, query={"limit": 1})
    orders: Any = ask("live_orders", who.key, query={"limit": 1})
    ask("order_lookup", who.key, query={"order_ref": orders[0]["order_ref"]})
    ask("live_products", who.key, query={"limit": 1})
    ask("payment_list", who.key, query={"limit": 1})


def leaders(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("top_performers", who.key, query={"limit": 1})
    ask("workspace_top_performers", who.owner, query={"limit": 1})
    ask("top_performers_brief", who.owner)
    ask("creative_archetypes", who.owner)
    ask("creative_patterns", who.owner)
    ask("winning_dimensions", who.owner)
    ask("experiments", who.owner)
    ask("pacing", who.owner)
    ask("export_top_performers", who.owner, body={"objectives": ["sales"], "window": "28d", "limit": 5})


def places(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("workspace_list", who.owner)
    ask("workspace_profiles", who.owner)
    ask("profile_list", who.key)
    ask("profile_settings", who.owner)
    ask("compliance_overview", who.owner)
    ask("tab_counts", who.owner)
    ask("mark_tab_seen", who.owner, body={"tab": "recommendations"})
    ask("reporting_currency", who.owner)
    ask("subscription_state", who.owner)
    ask("api_usage", who.owner, query=WINDOW)
    ask("connection_list", who.key)


def nobody(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("liveness")
    for name in ("description_at_the_root", "description_of_the_version"):
        ask(name, answered={"openapi": "3.1.0", "info": {"title": "Touchledger", "version": "v1"}, "paths": {}})
    ask("readiness")
    bare = {"home": place.settings.home / "nothing", "database_url": SecretStr(place.url)}
    without_figures = create_app(place.settings.model_copy(update=bare)).test_client()
    told = {"application/json": without_figures.get("/readyz").get_json()}
    place.recorder.kept["readiness"]["answers"]["503"] = place.recorder.canonical.of(told)
    # until they are unknown, whenever this is asked
    with time_machine.travel(SINCE, tick=False):
        for name, by in (("dashboard_chat", who.key), ("leaders_chat", who.owner)):
            place.recorder.refused(name, "feature_retired", by)


SCENES = (campaigns, outcomes, people, commerce, leaders, places, nobody)
