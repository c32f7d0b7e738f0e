"""Redeeming what a person came back with: each provider's dialect, and what goes wrong on the way."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask import Flask, jsonify, request

from connectors.apps import OF_SANDBOX
from connectors.authorizing import WAYS, address, redeem
from connectors.errors import ConnectorError, Malformed, Refused, Throttled, Transient
from connectors.grants import Account, Client
from connectors.transport import Transport
from sandbox.authorizing import CLIENT_ID, CLIENT_SECRET, PASSING
from sandbox.faces import TOKENS
from sandbox.google_world import CUSTOMERS, MANAGER
from sandbox.tiktok_world import ADVERTISERS
from tests.fixtures.sandbox import RunningSandbox, served

BACK = "http://127.0.0.1:8000/connect/x/callback"
PAGES = {
    "meta": "v26.0/dialog/oauth",
    "shopify": "admin/oauth/authorize",
    "stripe": "oauth/authorize",
    "tiktok": "portal/auth",
    "google": "o/oauth2/v2/auth",
}


def client(sandbox: RunningSandbox, face: str, provider: str | None = None) -> Client:
    base = f"{sandbox.url}/{face}"
    app = (CLIENT_ID, CLIENT_SECRET, f"{base}/{PAGES[face]}", base)
    return Client(provider or face, *app, is_sandbox=True, developer_token=OF_SANDBOX.developer_token)


def code(of: Client) -> str:
    """The code that somebody who allows it comes back with."""
    answer = httpx.post(address(of, state="s", back=BACK), data={"decision": "allow"}, trust_env=False)
    back = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert back["state"] == ["s"]
    return back[WAYS[of.provider].code_field][0]


@pytest.mark.parametrize(
    ("face", "provider", "account"),
    [
        ("shopify", "shopify", Account("alder-finch", "Alder & Finch", "USD", "America/New_York")),
        ("stripe", "stripe", Account("acct_1AlderFinch", "Alder & Finch payments", "USD")),
        ("meta", "chatapp", Account("102290129340398", "Alder & Finch", "USD")),
    ],
)
def test_a_code_becomes_a_token_and_the_account_it_opens(
    sandbox: RunningSandbox, transport: Transport, face: str, provider: str, account: Account
) -> None:
    asked = client(sandbox, face, provider)
    grant = redeem(asked, transport, code=code(asked), back=BACK)
    assert (grant.token, list(grant.accounts)) == (TOKENS[face], [account])
    assert len(grant.scopes) >= 1
    assert grant.token not in repr(grant)


def test_metas_token_of_some_hours_is_exchanged_for_the_one_of_sixty_days(
    sandbox: RunningSandbox, transport: Transport
) -> None:
    asked = client(sandbox, "meta")
    assert redeem(asked, transport, code=code(asked), back=BACK).token == TOKENS["meta"]
    sandbox.plan({"route": "access_token$", "containing": "fb_exchange_token", "kind": "status", "status": 400})
    with pytest.raises(Refused) as caught:
        redeem(asked, transport, code=code(asked), back=BACK)
    assert PASSING not in str(caught.value)


@pytest.mark.parametrize("provider", ["meta", "chatapp"])
def test_an_app_that_demands_its_secret_is_let_in(sandbox: RunningSandbox, transport: Transport, provider: str) -> None:
    asked = client(sandbox, "meta", provider)
    given = code(asked)
    sandbox.demand_secret()
    assert redeem(asked, transport, code=given, back=BACK).accounts


def test_every_ad_account_is_found(sandbox: RunningSandbox, transport: Transport) -> None:
    asked = client(sandbox, "meta")
    grant = redeem(asked, transport, code=code(asked), back=BACK)
    assert [one.external_account_id for one in grant.accounts] == [row.id for row in sandbox.world.accounts]
    assert all(one.timezone and one.currency and one.reason is None for one in grant.accounts)


def test_every_advertiser_is_found_with_its_currency_and_zone(sandbox: RunningSandbox, transport: Transport) -> None:
    asked = client(sandbox, "tiktok")
    grant = redeem(asked, transport, code=code(asked), back=BACK)
    assert list(grant.accounts) == [Account(row.id, row.name, row.currency, row.time_zone) for row in ADVERTISERS]
    assert (grant.token, set(map(type, grant.scopes))) == (TOKENS["tiktok"], {str})


@pytest.mark.parametrize("face", ["meta", "tiktok", "google", "shopify", "stripe"])
def test_no_line_of_the_log_holds_what_a_hand_off_is_made_with(
    sandbox: RunningSandbox, transport: Transport, caplog: pytest.LogCaptureFixture, face: str
) -> None:
    asked = client(sandbox, face)
    given = code(asked)
    caplog.clear()
    caplog.set_level("DEBUG")
    redeem(asked, transport, code=given, back=BACK)
    assert "HTTP Request" in caplog.text
    assert not any(hidden in caplog.text for hidden in (CLIENT_SECRET, PASSING, TOKENS[face], given))


@pytest.mark.parametrize("wrong", [{"client_secret": "guess"}, {"client_id": "other"}])
def test_a_code_of_tiktok_serves_our_app_once(
    sandbox: RunningSandbox, transport: Transport, wrong: dict[str, str]
) -> None:
    asked = client(sandbox, "tiktok")
    given = code(asked)
    with pytest.raises(Refused) as caught:
        redeem(replace(asked, **wrong), transport, code=given, back=BACK)  # type: ignore[arg-type]
    assert given not in str(caught.value)
    with pytest.raises(Refused):
        redeem(asked, transport, code=given, back=BACK)


def test_a_google_code_becomes_a_refresh_token_and_closed_customers_are_passed_over(
    sandbox: RunningSandbox, transport: Transport
) -> None:
    asked = client(sandbox, "google")
    assert "access_type=offline" in address(asked, state="s", back=BACK)
    grant = redeem(asked, transport, code=code(asked), back=BACK)
    assert (grant.token, grant.scopes) == (TOKENS["google"], ["https://www.googleapis.com/auth/adwords"])
    assert [(one.external_account_id, one.reached_through) for one in grant.accounts] == [
        (CUSTOMERS[0].id, None),
        (CUSTOMERS[1].id, MANAGER.id),
    ]
    sandbox.plan({"route": f"customers/{CUSTOMERS[0].id}/", "kind": "code", "code": "CUSTOMER_NOT_ENABLED"})
    grant = redeem(asked, transport, code=code(asked), back=BACK)
    assert [one.external_account_id for one in grant.accounts] == [CUSTOMERS[1].id]
    # nobody but the operator can mend that, who reads the reason in the log
    unapproved = "CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION"
    sandbox.plan({"route": "googleAds:search$", "kind": "code", "code": unapproved, "times": None})
    with pytest.raises(Refused) as caught:
        redeem(asked, transport, code=code(asked), back=BACK)
    assert caught.value.reason == "app_refused"


def test_a_code_serves_once_for_our_app_and_from_the_same_place(sandbox: RunningSandbox, transport: Transport) -> None:
    asked = client(sandbox, "stripe")
    for wrong, back in ((replace(asked, client_secret="guess"), BACK), (asked, f"{BACK}/else")):
        with pytest.raises(Refused):
            redeem(wrong, transport, code=code(asked), back=back)
    given = code(asked)
    redeem(asked, transport, code=given, back=BACK)
    with pytest.raises(Refused):
        redeem(asked, transport, code=given, back=BACK)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"kind": "status", "status": 500}, Transient),
        ({"kind": "status", "status": 429}, Throttled),
        ({"kind": "html", "status": 200}, Malformed),
        # the provider gave its token away, and knows the code no more when it is asked again
        ({"kind": "truncation"}, Refused),
    ],
    ids=["500", "429", "html", "cut"],
)
def test_what_goes_wrong_is_a_connectors_error_without_secrets(
    sandbox: RunningSandbox, transport: Transport, fault: dict[str, Any], kind: type[ConnectorError]
) -> None:
    asked = client(sandbox, "shopify")
    given = code(asked)
    sandbox.plan({**fault, "route": "access_token$", "times": None})
    with pytest.raises(kind) as caught:
        redeem(asked, transport, code=given, back=BACK)
    assert given not in str(caught.value)
    assert CLIENT_SECRET not in f"{caught.value}{asked!r}"


def test_lists_are_walked_to_their_end_and_closed_accounts_say_so(transport: Transport) -> None:
    # of those that owe a payment, are looked into or in grace, all can be read, and the ads of some run on
    open_ones, over = (1, 3, 7, 8, 9), (2, 100, 101)
    states = (*open_ones, *over)
    graph = Flask("graph")
    graph.add_url_rule("/v26.0/oauth/access_token", "t", lambda: jsonify(access_token="EAA"), methods=["POST"])
    graph.add_url_rule("/v26.0/me/permissions", "p", lambda: jsonify(data=[{"permission": "a", "status": "declined"}]))

    @graph.get("/v26.0/me/adaccounts")
    def accounts() -> Any:
        at = int(request.args.get("after", "0"))
        row = {"account_id": str(at), "name": "n", "account_status": states[at]}
        onward = {"cursors": {"after": str(at + 1)}, **({"next": "x"} if at + 1 < len(states) else {})}
        return jsonify(data=[row], paging=onward)

    with served(graph) as url:
        grant = redeem(Client("meta", "1", "s", url, url, is_sandbox=False), transport, code="c", back=BACK)
    assert [one.reason for one in grant.accounts] == [None] * len(open_ones) + ["account_disabled"] * len(over)
    assert grant.scopes == []


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"business_profile": {"name": None}, "settings": {"dashboard": {"display_name": "Finch"}}}, "Finch"),
        ({"business_profile": None, "settings": {"dashboard": {"display_name": None}}}, "acct_1"),
        ({}, "acct_1"),
    ],
)
def test_a_processors_account_that_was_given_no_name_is_called_as_its_dashboard_calls_it(
    transport: Transport, told: dict[str, Any], name: str
) -> None:
    stripe = Flask("stripe")
    stripe.add_url_rule("/oauth/token", "t", lambda: jsonify(access_token="sk", scope="read_write"), methods=["POST"])
    account = {"id": "acct_1", "object": "account", "default_currency": None, **told}
    stripe.add_url_rule("/v1/account", "a", lambda: jsonify(account))
    with served(stripe) as url:
        grant = redeem(Client("stripe", "1", "s", url, url, is_sandbox=False), transport, code="c", back=BACK)
    assert list(grant.accounts) == [Account("acct_1", name)]


def test_an_advertiser_that_tiktok_looks_into_is_not_disabled(transport: Transport) -> None:
    known = {
        "STATUS_ENABLE": None,
        "STATUS_PENDING_CONFIRM_MODIFY": None,
        "STATUS_SELF_SERVICE_UNAUDITED": None,
        "STATUS_LIMIT": "account_disabled",
        "STATUS_CONFIRM_FAIL": "account_disabled",
        "STATUS_CONFIRM_FAIL_END": "account_disabled",
        "STATUS_DISABLE": "account_disabled",
    }
    of_all = {"currency": "USD", "timezone": "Etc/UTC", "display_timezone": "UTC"}
    told = [{"advertiser_id": state, "name": "n", "status": state, **of_all} for state in known]
    api = Flask("tiktok")
    for path, data, method in (
        ("oauth2/access_token", {"access_token": "t", "scope": [1]}, "POST"),
        ("oauth2/advertiser/get", {"list": [{"advertiser_id": state} for state in known]}, "GET"),
        ("advertiser/info", {"list": told}, "GET"),
    ):
        body = {"code": 0, "message": "OK", "data": data}
        api.add_url_rule(f"/open_api/v1.3/{path}/", path, partial(jsonify, body), methods=[method])
    with served(api) as url:
        grant = redeem(Client("tiktok", "1", "s", url, url, is_sandbox=False), transport, code="c", back=BACK)
    assert {one.external_account_id: one.reason for one in grant.accounts} == known


@pytest.mark.parametrize("told", [{}, {"access_token": 5}, {"access_token": "t", "scope": None}, []])
def test_a_grant_that_is_not_as_promised_is_malformed(transport: Transport, told: Any) -> None:
    odd = Flask("odd")
    odd.add_url_rule("/oauth/token", "t", lambda: jsonify(told), methods=["POST"])
    odd.add_url_rule("/v1/account", "a", lambda: jsonify(id="a", business_profile=None))
    with served(odd) as url, pytest.raises(Malformed):
        redeem(Client("stripe", "1", "s", url, url, is_sandbox=False), transport, code="c", back=BACK)


@pytest.mark.parametrize("domain", ["../x.myshopify.com", "a/b.myshopify.com", "a@b.myshopify.com", "", "-a"])
def test_a_shop_whose_handle_would_bend_an_address_is_malformed(transport: Transport, domain: str) -> None:
    app = Flask("shop")
    app.add_url_rule("/admin/oauth/access_token", "t", lambda: {"access_token": "t", "scope": "x"}, methods=["POST"])
    shop = {"myshopify_domain": domain, "name": "Shop"}
    app.add_url_rule("/admin/api/2026-10/shop.json", "s", lambda: {"shop": shop})
    with served(app) as url, pytest.raises(Malformed):
        redeem(Client("shopify", "c", "s", url, url, is_sandbox=True), transport, code="c", back=BACK)
