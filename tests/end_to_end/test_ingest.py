"""What is sent over HTTP is in the next published snapshot, and what is taken back is gone from the one after."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.end_to_end.command import Deployment
from tests.end_to_end.served import all_campaigns, answer, client_of
from tests.end_to_end.visit import Site

WINDOW = {"date_from": "2026-03-01", "date_to": "2026-03-31"}
FILES = {
    "ad_accounts": "platform,ad_account_id,name,currency,timezone,status\nmeta,act_1,One,USD,UTC,ACTIVE\n",
    "campaigns": "platform,campaign_id,ad_account_id,name,status\nmeta,c1,act_1,One,ACTIVE\n",
    "ad_sets": "platform,ad_set_id,campaign_id,name,status\nmeta,s1,c1,One,ACTIVE\n",
    "ads": "platform,ad_id,ad_set_id,campaign_id,name,status\nmeta,a1,s1,c1,One,ACTIVE\n",
}
ORDER = {
    "connection_ref": "shop", "order_id": "o1", "order_ref": "#1", "created_at": "2026-04-02T10:00:00Z",
    "updated_at": "2026-04-03T10:00:00Z", "financial_status": "partially_refunded", "currency": "USD",
    "total": "100.00", "refunded_total": "30.00",
}  # fmt: skip
APRIL = {"date_from": "2026-04-01", "date_to": "2026-04-30"}
AD = {"platform": "meta", "ad_id": "a1"}


class Shop:
    """A profile whose ads came as uploads, and its key."""

    def __init__(self, home: Path) -> None:
        self.deployment = Deployment(home)
        create = ("profile", "create", "--name", "Shop", "--timezone", "UTC", "--currency", "USD", "--quiet")
        profile = self.deployment.run_here(*create)
        names = ("events:write", "campaigns:read", "customers:read", "attribution:write")
        scopes = [word for name in names for word in ("--scope", name)]
        self.key = self.deployment.run_here("key", "mint", "--profile", profile, *scopes, "--quiet").split()[-1]

    def client(self) -> FlaskClient:
        return client_of(self.deployment.home)

    def send(self, path: str, method: str = "POST", status: int = 202, **options: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.key}"}
        response = self.client().open(f"/api/v1{path}", method=method, headers=headers, **options)
        assert response.status_code == status, response.get_data(as_text=True)
        data: dict[str, Any] = response.get_json()["data"]
        return data

    def upload(self, dataset: str, text: str) -> None:
        form = {"dataset": dataset, "file": (io.BytesIO(text.encode()), "given.csv")}
        self.send("/imports", data=form, content_type="multipart/form-data")

    def build(self) -> None:
        self.deployment.run_here("build", "--quiet")

    def campaigns(self, window: Mapping[str, str] = WINDOW) -> dict[str, tuple[float, int]]:
        """Cash and conversions by campaign under last_touch."""
        rows = all_campaigns(self.client(), self.key, **window, level="campaign")
        return {row["platform_id"]: (row["outcome_value"], row["attributed_outcome_count"]) for row in rows}

    def total(self, window: Mapping[str, str] = WINDOW) -> float:
        body = answer(self.client(), self.key, "/campaigns/unattributed", **window)
        return float(body["data"]["profile_total"]["outcome_value"])

    def called(self) -> dict[str, str | None]:
        """The names of March's customers by e-mail."""
        rows = answer(self.client(), self.key, "/customers", **WINDOW)["data"]
        return {row["email"]: row["name"] for row in rows if row["email"]}


class Story:
    """Two builds: what was sent before the first, and what was taken back, handed over and corrected before the second.

    Of each build: March's cash and conversions by campaign and March's total, and the same of April.
    """

    def __init__(self, shop: Shop) -> None:
        self.shop, self.before = shop, shop.campaigns()
        self._send()
        self.site = self._visited()
        shop.build()
        self.first, self.called = self._figures(), [shop.called()]
        self.again = shop.send("/events", json=PURCHASE)
        self.retracted = shop.send("/events/b1", method="DELETE", status=200)
        self._hand_over()
        self.payer = shop.send("/payments/store:o1/payer", "PUT", 200, json={"email": "eve@example.com"})
        self.refund = shop.send("/payments/store:o1/refund", "POST", 201, json={"amount": "5", "currency": "USD"})
        shop.build()
        self.second = self._figures()
        self.called.append(shop.called())

    def _send(self) -> None:
        for event in SENT:
            assert self.shop.send("/events", json=event)["status"] == "accepted"
        self.shop.upload("orders", ",".join(ORDER) + "\n" + ",".join(ORDER.values()) + "\n")

    def _visited(self) -> Site | None:
        """Another profile of the same deployment, and somebody who buys in its shop with a real browser."""
        if shutil.which("chromium") is None:
            return None
        site = Site(self.shop.deployment.home)
        site.pay(site.visit())
        return site

    def _hand_over(self) -> None:
        self.shop.send("/partner/ad-referrals", json={"referrals": [REFERRAL]})
        self.shop.send("/events", json=_event("dm_started", "d1", "04T10:00:00", customer={"phone": "+14155550100"}))

    def _figures(self) -> list[object]:
        shop = self.shop
        return [shop.campaigns(), shop.total(), shop.campaigns(APRIL), shop.total(APRIL)]


def _event(name: str, key: str, at: str, **more: Any) -> dict[str, Any]:
    return {"event_name": name, "idempotency_key": key, "timestamp": f"2026-03-{at}Z", **more}


ANN, MONEY = {"email": "ann@example.com"}, {"currency": "USD", "payment_ref": "till:1"}
ANNABEL, EVE = {**ANN, "first_name": "Annabel", "last_name": "Lee"}, {"email": "eve@example.com", "first_name": "Eve"}
PURCHASE = _event("purchase", "p1", "02T10:00:00", user_traits=ANN, properties={**MONEY, "value": "120.50"})
SENT = [
    # no goal names it: no outcome, yet it tells that Ann came from the ad
    _event("brochure_opened", "b1", "01T10:00:00", user_traits=ANNABEL, ad=AD),
    PURCHASE,
    _event("refund_issued", "r1", "09T10:00:00", properties={
        "value": 20.5, "currency": "USD", "refunds_payment_ref": "till:1"}),
    _event("order_placed", "o1", "02T09:59:00", user_traits=ANN, properties={"value": 120.5, "currency": "USD"}),
    _event("purchase", "t1", "03T10:00:00", user_traits=ANN, properties={
        **MONEY, "payment_ref": "till:2", "value": 999, "is_test": True}),
    # Eve came from the ad too, and nobody knows yet that the order of April is hers
    _event("brochure_opened", "b9", "31T10:00:00", user_traits=EVE, ad=AD),
]  # fmt: skip
REFERRAL = {
    "referral_id": "f1", "conversation_id": "v1", "channel": "chatapp", "ad_id": "a1",
    "occurred_at": "2026-03-04T10:00:00Z", "customer": {"phone": "+14155550100"},
}  # fmt: skip


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    made = Shop(tmp_path_factory.mktemp("ingest") / "home")
    for dataset, text in FILES.items():
        made.upload(dataset, text)
    return Story(made)


def test_what_is_sent_is_in_the_next_snapshot(story: Story) -> None:
    assert story.before == {}
    assert story.first == [{"c1": (100.0, 1)}, 100.0, {}, 70.0]
    assert (story.again["status"], story.again["visible"]) == ("duplicate", "published")
    assert story.again["customer_key"].startswith("ck_")


def test_what_is_taken_back_is_in_none_and_a_referral_leads_to_its_chat(story: Story) -> None:
    assert story.retracted["status"] == "retracted"
    # without the brochure nothing leads from the ad to the payment of March, which itself stays
    assert story.second[:2] == [{"c1": (0.0, 1)}, 100.0]


def test_what_events_call_their_people_is_in_the_list_of_customers_until_it_is_taken_back(story: Story) -> None:
    first, second = story.called
    assert first == {"ann@example.com": "Annabel Lee", "eve@example.com": "Eve"}
    assert second == {"ann@example.com": None, "eve@example.com": "Eve"}


def test_a_payer_and_a_refund_entered_by_hand_are_in_the_next_snapshot(story: Story) -> None:
    assert story.payer["previous_customer_key"] is None
    assert story.refund["net_value"] == "65.00"
    assert story.second[2:] == [{"c1": (65.0, 1)}, 65.0]
    rows = answer(story.shop.client(), story.shop.key, "/payments")["data"]
    (row,) = [one for one in rows if one["payment_ref"] == "store:o1"]
    assert (row["customer_key"], row["refunded_value"]) == (story.payer["customer_key"], "35.00")


@pytest.mark.browser
def test_a_visit_in_a_browser_ends_as_a_credited_lead_and_its_payment(story: Story) -> None:
    if story.site is None:
        pytest.skip("no Chromium on this machine (Debian package: chromium)")
    site = story.site
    row = site.campaigns()[site.ad.campaign_id]
    # the order of the browser is no cash; the processor's payment is, once
    assert row["attributed_outcomes_by_type"] == {"lead_created": 1, "payment_received": 1}
    assert row["outcome_value"] == 189.0
    assert [other for other in site.campaigns().values() if other["attributed_outcome_count"]] == [row]
    # as the form of the page called her
    assert site.customers() == ["Rosa"]
