"""Whatever JSON a provider sends, a connector gives rows or a ConnectorError: nothing else ever escapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors import meta_ads, meta_graph, shopify, shopify_graph, stripe, stripe_lists, tiktok_dialect, tiktok_rows
from connectors.apps import App
from connectors.chatapp import ChatApp
from connectors.errors import ConnectorError, Malformed
from connectors.google_ads import GoogleAds
from connectors.google_dialect import GoogleDialect
from connectors.meta_ads import MetaAds
from connectors.meta_datasets import MetaDatasets
from connectors.shopify import Shopify
from connectors.stripe import Stripe
from connectors.stripe_billing import Order, StripeBilling
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Answer, Policy, Request, Transport, judge_status, parsed
from tests.fixtures.sandbox import TODAY

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(
    ["NaN", "-1", "1e999999", "Infinity", "gid://shopify/Order/x", "2026-02-30", "\ud800", 10**400, 1e308]
)  # fmt: skip
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
STATUSES = st.sampled_from([200, 200, 200, 204, 301, 400, 401, 403, 404, 409, 418, 429, 430, 500, 503])
HEADERS = st.dictionaries(
    st.sampled_from(["x-business-use-case-usage", "x-fb-ads-insights-throttle", "retry-after", "stripe-should-retry"]),
    st.sampled_from(["", "[]", "{", '{"1": 3}', '{"1": [{"call_count": "inf"}]}', "true", "-4", "9" * 400]),
)
SINCE = TODAY - timedelta(days=1)


class Scripted(Transport):
    """A transport whose wire is a script: each request takes the next answer, judged as any other."""

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__(Policy(attempts=1), sleep=lambda _: None)
        self._answers = answers

    def _exchange(self, request: Request, provider: str) -> Answer:
        return self._answers.pop(0) if self._answers else Answer(404, {}, None, False)


@st.composite
def broken(draw: st.DrawFn, valid: Any) -> Any:
    """`valid` with one or two of its parts, at any depth, replaced by other JSON or left out."""
    document = json.loads(json.dumps(valid))
    for _ in range(draw(st.integers(1, 2))):
        node, place = document, None
        holder: Any = None
        while isinstance(node, dict | list) and node and (holder is None or draw(st.booleans())):
            holder, place = node, draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            node = holder[place]
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[place]
        elif holder is not None:
            holder[place] = draw(JSON)
    return document


META_ROW = {
    "account_id": "1", "account_currency": "USD", "campaign_id": "2", "adset_id": "3", "ad_id": "4", "spend": "1.5",
    "impressions": "9", "clicks": "1", "reach": "8", "date_start": str(TODAY), "date_stop": str(TODAY),
    "actions": [{"action_type": "omni_purchase", "value": "1"}], "action_values": [],
}  # fmt: skip
META_NODE = {
    "id": "4", "account_id": "1", "campaign_id": "2", "adset_id": "3", "name": "n", "status": "ACTIVE",
    "currency": "USD", "timezone_name": "UTC", "created_time": "2026-01-01T00:00:00+0000", "daily_budget": "5",
    "creative": {"id": "4"}, "object_story_spec": {"link_data": {"link": "https://x.example"}},
    "report_run_id": "5", "async_status": "Job Completed",
}  # fmt: skip
META_PAGE = {"data": [META_ROW | META_NODE], "paging": {"cursors": {"after": "a"}}, **META_NODE}
BAG = {"shopMoney": {"amount": "1.00", "currencyCode": "USD"}}
LIST = {"edges": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
STORE_NODE = {
    "id": "gid://shopify/Order/1", "name": "#1", "title": "t", "status": "ACTIVE", "price": "1.00", "quantity": 1,
    "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z", "displayFinancialStatus": "PAID",
    **dict.fromkeys(
        ("subtotalPriceSet", "totalDiscountsSet", "totalShippingPriceSet", "totalTaxSet", "totalPriceSet",
         "totalReceivedSet", "totalRefundedSet", "originalUnitPriceSet"), BAG),
    "customAttributes": [{"key": "gclid", "value": "x"}], "transactions": [{"gateway": "stripe"}],
}  # fmt: skip
NESTED = {"edges": [{"node": STORE_NODE}], "pageInfo": {"hasNextPage": False, "endCursor": None}}
FULL_NODE = {**STORE_NODE, "lineItems": NESTED, "variants": NESTED}
PAGE = {"edges": [{"node": FULL_NODE}], "pageInfo": {"hasNextPage": False, "endCursor": None}}
STORE_PAGE = {
    "data": {"shop": {"currencyCode": "USD"}, "orders": PAGE, "products": PAGE},
    "extensions": {"cost": {"requestedQueryCost": 1, "throttleStatus": {"currentlyAvailable": 5, "restoreRate": 1}}},
}
CHARGE = {
    "id": "x_1", "created": 1, "status": "succeeded", "captured": True, "amount": 5, "amount_captured": 5,
    "currency": "usd", "payment_intent": "pi_1", "charge": {"id": "ch_1", "amount": 9, "amount_captured": 4},
    "billing_details": {"email": None}, "customer": {"id": "cus_1", "email": "a@example.com"},
    "metadata": {"order_ref": "1"}, "billing_reason": "subscription_cycle",
    "parent": {"subscription_details": {"subscription": "sub_1"}},
    "payments": {"data": [{"status": "paid", "payment": {"type": "payment_intent", "payment_intent": "pi_1"}}]},
}  # fmt: skip
STRIPE_PAGE = {"object": "list", "has_more": False, "data": [CHARGE]}
TIKTOK_ROW = {
    "advertiser_id": "1", "name": "n", "currency": "USD", "timezone": "UTC", "status": "STATUS_ENABLE",
    "campaign_id": "2", "campaign_name": "n", "adgroup_id": "3", "adgroup_name": "n", "ad_id": "4", "ad_name": "n",
    "operation_status": "ENABLE", "secondary_status": "AD_STATUS_DELIVERY_OK", "create_time": "2026-01-01 00:00:00",
    "budget_mode": "BUDGET_MODE_DAY", "budget": 50, "landing_page_url": "https://x.example/?a=b",
    "utm_params": [{"key": "ad_id", "value": "__CID__"}],
    "dimensions": {"campaign_id": "2", "adgroup_id": "3", "ad_id": "4", "stat_time_day": f"{TODAY} 00:00:00",
                   "country_code": "US"},
    "metrics": {"campaign_id": "2", "adgroup_id": "3", "spend": "1.50", "impressions": "9", "clicks": "1",
                "reach": "8", "likes": "-", "complete_payment": "0", "total_complete_payment_rate": "0.00"},
}  # fmt: skip
TIKTOK_PAGE = {
    "code": 0, "message": "OK", "data": {
        "list": [TIKTOK_ROW], "page_info": {"page": 1, "page_size": 1000, "total_number": 1, "total_page": 1},
    },
}  # fmt: skip

GOOGLE_ROW = {
    "customer": {"id": "1", "currencyCode": "USD", "timeZone": "UTC", "finalUrlSuffix": "a=1"},
    "campaign": {"id": "2", "name": "n", "status": "ENABLED", "resourceName": "customers/1/campaigns/2"},
    "campaignBudget": {"amountMicros": "5000000", "explicitlyShared": False, "resourceName": "customers/1/b/1"},
    "assetGroup": {"id": "5", "name": "n", "status": "ENABLED"},
    "adGroup": {"id": "3", "name": "n", "status": "PAUSED"},
    "adGroupAd": {
        "status": "ENABLED",
        "ad": {"id": "4", "type": "VIDEO_RESPONSIVE_AD", "finalUrls": ["https://x.example"],
               "videoResponsiveAd": {"headlines": [{"text": "t"}], "videos": [{"asset": "customers/1/assets/1"}]}},
    },
    "segments": {"date": str(TODAY), "adNetworkType": "SEARCH"},
    "metrics": {"costMicros": "1000000", "impressions": "5", "clicks": "1", "conversions": 0.5},
}  # fmt: skip
# one document that is an access token, a page, and the only part of a stream
GOOGLE_PAGE = {"access_token": "a", "expires_in": 3599, "results": [GOOGLE_ROW]}


def everything_google(transport: Transport) -> None:
    customer = GoogleAds("http://127.0.0.1:9", "t", "1", transport, App("c", "s", "d"))
    customer.entities()
    customer.linked_ads()
    for level in ("campaign", "ad_set", "ad"):
        customer.state(level, "4")  # type: ignore[arg-type]


def google_reports(transport: Transport) -> None:
    customer = GoogleAds("http://127.0.0.1:9", "t", "1", transport, App("c", "s", "d"), currency="USD")
    customer._api._access, customer._api._good_until = "a", float("inf")
    list(customer.delivery(SINCE, TODAY))
    list(customer.breakdowns(SINCE, TODAY))


def everything_meta(transport: Transport) -> None:
    account = MetaAds("http://127.0.0.1:9", "t", "1", transport)
    list(account.delivery(SINCE, TODAY))
    list(account.reach([(TODAY, TODAY)]))
    account.entities()


def meta_report(transport: Transport) -> None:
    list(MetaAds("http://127.0.0.1:9", "t", "1", transport).delivery(TODAY - timedelta(days=40), TODAY))


def everything_shopify(transport: Transport) -> None:
    store = Shopify("http://127.0.0.1:9", "t", "shop", transport)
    store.orders()
    store.catalogue()


def everything_stripe(transport: Transport) -> None:
    account = Stripe("http://127.0.0.1:9", "t", transport)
    account.payments()
    account.renewals()
    account.disputes()


def everything_tiktok(transport: Transport) -> None:
    account = TikTokAds("http://127.0.0.1:9", "t", "1", transport)
    list(account.delivery(SINCE, TODAY))
    list(account.breakdowns(SINCE, TODAY))
    list(account.reach([(TODAY, TODAY), (SINCE, TODAY)]))
    account.entities()
    account.linked_ads()
    account.state("ad", "4")


READERS: list[tuple[Callable[[Transport], None], Any]] = [
    (everything_meta, META_PAGE),
    (meta_report, META_PAGE),
    (everything_shopify, STORE_PAGE),
    (everything_stripe, STRIPE_PAGE),
    (everything_google, GOOGLE_PAGE),
    (google_reports, [GOOGLE_PAGE]),
    (everything_tiktok, TIKTOK_PAGE),
]


@pytest.mark.parametrize(("read", "valid"), READERS, ids=lambda part: getattr(part, "__name__", ""))
def test_the_documents_these_tests_break_are_whole(read: Callable[[Transport], None], valid: Any) -> None:
    with Scripted([Answer(200, {}, valid, True)] * 60) as transport:
        read(transport)


@pytest.mark.parametrize(("read", "valid"), READERS, ids=lambda part: getattr(part, "__name__", ""))
@given(data=st.data())
def test_a_broken_answer_gives_rows_or_a_connector_error(
    read: Callable[[Transport], None], valid: Any, data: st.DataObject
) -> None:
    bad = Answer(data.draw(STATUSES), data.draw(HEADERS), data.draw(broken(valid) | JSON), True)
    good = [Answer(200, {}, valid, True)] * data.draw(st.integers(0, 4))
    with Scripted([*good, *[bad] * 40]) as transport, suppress(ConnectorError):
        read(transport)


@given(body=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()), status=STATUSES)
def test_any_bytes_are_an_answer_that_can_be_judged(body: bytes, status: int) -> None:
    answer = parsed(status, {}, body)
    for dialect in (
        meta_graph.MetaDialect(),
        shopify_graph.ShopifyDialect(),
        stripe_lists.StripeDialect(),
        GoogleDialect(),
        tiktok_dialect.TikTokDialect(),
    ):
        with suppress(ConnectorError):
            dialect.judge(answer)
            judge_status(answer, dialect.provider)
            assert answer.is_json
        assert dialect.pause_after(answer) >= 0


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999999", "-1e400", "ten", ""])
def test_figures_that_are_no_numbers_are_refused(text: str) -> None:
    for amount in (meta_ads.meta_rows.number, shopify.amount, tiktok_rows.number):
        with pytest.raises(ConnectorError):
            amount(text)
    with pytest.raises((ConnectorError, ValueError)):
        stripe.payment({**CHARGE, "amount_captured": text})


def test_an_account_that_tells_no_currency_is_not_taken_for_one_that_counts_in_cents() -> None:
    wire = Scripted([Answer(200, {}, META_NODE, True), Answer(200, {}, {"id": "act_1"}, True)])
    with pytest.raises(Malformed):
        MetaAds("http://x.example", "token", "1", wire).state("campaign", "4")


@pytest.mark.parametrize("ask", [MetaDatasets.datasets, lambda platform: platform.live_ad_sets("7")])
def test_a_dataset_or_an_ad_set_without_an_id_is_malformed(ask: Callable[[MetaDatasets], list[str]]) -> None:
    nameless = {"promoted_object": {"pixel_id": "7"}}
    with pytest.raises(Malformed):
        ask(MetaDatasets("http://x.example", "token", "1", Scripted([Answer(200, {}, {"data": [nameless]}, True)])))


ORDER = Order("price", "reference", {}, "https://x.example/done", "https://x.example/not")
WHOLE_PAGE = {"id": "cs_1", "url": "https://pay.example/1", "expires_at": 1_900_000_000, "created": 1_800_000_000}


@pytest.mark.parametrize(
    "ask", [lambda shop: shop.checkout(ORDER, key="k"), lambda shop: shop.portal("c", "r", key="k")]
)
@pytest.mark.parametrize(
    "body", [[], {}, {**WHOLE_PAGE, "url": ""}, {**WHOLE_PAGE, "expires_at": "soon", "created": 10**20}]
)
def test_a_page_to_pay_on_without_its_address_or_its_time_is_malformed(
    ask: Callable[[StripeBilling], Any], body: Any
) -> None:
    with pytest.raises(Malformed):
        ask(StripeBilling("http://x.example", "token", Scripted([Answer(200, {}, body, True)])))


TEMPLATE = {"id": "1", "name": "n", "language": "en", "status": "APPROVED"}


@pytest.mark.parametrize(
    ("ask", "body"),
    [
        (lambda chat: chat.templates(), {"data": [{**TEMPLATE, "id": "2"}, {"id": "3"}]}),
        (lambda chat: chat.create_template({"name": "n"}), {"status": "PENDING"}),
        (lambda chat: chat.upload_sample(b"x", "image/png"), {"id": "upload:1", "h": ""}),
        (lambda chat: chat.media("5"), {"url": "https://x.example", "mime_type": "image/png", "file_size": "many"}),
        (lambda chat: chat._graph.change("5", {}), {"success": 1}),
        (lambda chat: chat.templates(), {"data": [], "paging": {"next": "https://x.example"}}),
    ],
)
def test_what_the_chat_app_left_out_is_not_made_up(ask: Callable[[ChatApp], Any], body: Any) -> None:
    with pytest.raises(Malformed):
        ask(ChatApp("http://x.example", "token", "1", Scripted([Answer(200, {}, body, True)] * 2)))
