"""Plans of workspaces that came from the storefront's marketplace."""

from __future__ import annotations

from werkzeug.test import TestResponse

from api import db
from api.models import Connection, Profile, Subscription, Workspace
from tests.api.v1.billing.asking import Ask, data, refusal
from tests.factories.deployments import application
from touchledger.settings import Settings


def test_a_storefronts_workspace_chooses_its_plan_there(ask: Ask, selling: Settings, profile: Profile) -> None:
    choice = {"plan": "growth"}
    elsewhere = ask("shopify-plan-selection", choice)
    assert refusal(elsewhere) == (409, "invalid_state", "not_marketplace_workspace")
    # that the state does not allow this said neither what is wrong nor where to go
    assert "checkout-session" in elsewhere.get_json()["error"]["message"]
    with db.transaction(selling.operational_url) as session:
        workspace = session.get_one(Workspace, profile.workspace_id)
        workspace.acquisition_source = "storefront"
    assert refusal(ask("checkout-session", choice)) == (409, "invalid_state", "storefront_billing")
    assert refusal(ask("shopify-plan-selection", choice)) == (503, "service_unavailable", None)


def test_the_storefronts_page_is_that_of_the_store_and_starter_needs_none(
    selling: Settings, owner: str, profile: Profile
) -> None:
    listed = selling.model_copy(update={"billing_storefront_app": "touchledger"})
    client, url = application(listed).test_client(), selling.operational_url
    path, headers = f"/api/v1/workspaces/{profile.workspace_id}", {"Authorization": f"Bearer {owner}"}

    def choose(plan: str) -> TestResponse:
        return client.post(f"{path}/shopify-plan-selection", json={"plan": plan}, headers=headers)

    with db.transaction(url) as session:
        workspace = session.get_one(Workspace, profile.workspace_id)
        workspace.acquisition_source = "storefront"
        row = Subscription(workspace_id=workspace.id, billing="storefront", status="active", paid_plan="agency")
        session.add(row)
        workspace.plan = "agency"
    assert refusal(choose("growth")) == (404, "not_found", None)
    with db.transaction(url) as session:
        shop = Connection(profile_id=profile.id, provider="shopify", kind="store", display_name="Trail Box")
        shop.external_account_id, shop.base_url, shop.token = "trail-box.myshopify.com", "https://x.example", "none"
        session.add(shop)
    chosen = choose("growth")
    handoff = data(chosen)["handoff"]
    assert (chosen.status_code, data(chosen)["plan"]) == (201, "growth")
    assert handoff["url"] == "https://admin.shopify.com/store/trail-box/charges/touchledger/pricing_plans"
    assert data(choose("growth"))["handoff"]["id"] == handoff["id"]
    assert data(choose("starter")) == {"plan": "starter", "handoff": None}
    now = data(client.get(f"{path}/subscription", headers=headers))
    assert (now["plan"], now["status"], now["billing"]) == ("starter", "canceled", "storefront")
    assert data(client.get(f"/api/v1/handoffs/{handoff['id']}", headers=headers))["status"] == "canceled"
