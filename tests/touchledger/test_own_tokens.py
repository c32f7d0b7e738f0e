"""A real store and a real processor are connected by a token of their owner; here the sandbox's stand for them."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from api.connections import PATIENCE
from api.db import now, transaction
from api.models import Connection, ConnectionSync, Profile
from connectors.grants import Client
from connectors.rights import lacking
from connectors.transport import Transport
from sandbox.authorizing import SCOPES
from sandbox.faces import TOKENS
from tests.factories import accounts
from tests.fixtures.sandbox import RunningSandbox
from touchledger.cli import main
from touchledger.own_tokens import ADDRESSES, connect
from touchledger.settings import Settings


@pytest.fixture
def profile(sqlite_url: str) -> Profile:
    return accounts.profile(sqlite_url)


@pytest.fixture
def near(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return settings.model_copy(update={"sandbox_port": int(sandbox.url.rpartition(":")[2])})


def rows(settings: Settings) -> list[Connection]:
    with transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(Connection).order_by(Connection.created_at)))


@pytest.mark.parametrize(
    ("vendor", "kind", "account", "name"),
    [
        ("shopify", "store", "alder-finch", "Alder & Finch"),
        ("stripe", "payments", "acct_1AlderFinch", "Alder & Finch payments"),
    ],
)
def test_a_token_becomes_a_connection_that_the_next_run_pulls(
    near: Settings, sandbox: RunningSandbox, profile: Profile, vendor: str, kind: str, account: str, name: str
) -> None:
    told = connect(near, vendor=vendor, profile_id=profile.id, token=TOKENS[vendor], is_sandbox=True)
    (row,) = rows(near)
    assert told == {"connection_id": row.id, "account": account, "name": name, "lacking": []}
    assert row.scopes_granted == (list(SCOPES) if vendor == "shopify" else [])
    assert (row.provider, row.kind, row.status, row.token) == (vendor, kind, "active", TOKENS[vendor])
    assert (row.base_url, row.currency) == (f"{sandbox.url}/{vendor}", "USD")
    with transaction(near.operational_url) as session:
        assert session.scalars(sa.select(ConnectionSync.status)).all() == ["queued"]


def test_another_token_of_the_same_account_takes_the_place_of_the_one_before(near: Settings, profile: Profile) -> None:
    given: dict[str, Any] = {"vendor": "stripe", "profile_id": profile.id, "is_sandbox": True}
    first = connect(near, token=TOKENS["stripe"], **given)
    with transaction(near.operational_url) as session:
        lost = session.get_one(Connection, first["connection_id"])
        lost.status, lost.token = "reconnect_required", ""
    assert connect(near, token=TOKENS["stripe"], **given) == first
    assert [(row.status, row.token) for row in rows(near)] == [("active", TOKENS["stripe"])]


def test_an_account_of_another_profile_of_the_workspace_is_refused_and_nothing_is_kept(
    near: Settings, sqlite_url: str, profile: Profile
) -> None:
    connect(near, vendor="stripe", profile_id=profile.id, token=TOKENS["stripe"], is_sandbox=True)
    with transaction(sqlite_url) as session:
        other = Profile(workspace_id=profile.workspace_id, name="B", timezone="UTC", reporting_currency="USD")
        session.add(other)
    with pytest.raises(click.ClickException, match="profile"):
        connect(near, vendor="stripe", profile_id=other.id, token=TOKENS["stripe"], is_sandbox=True)
    assert len(rows(near)) == 1


@pytest.mark.parametrize("vendor", ADDRESSES)
def test_a_token_that_nobody_gave_is_refused_without_being_told(
    near: Settings, sandbox: RunningSandbox, profile: Profile, vendor: str
) -> None:
    with pytest.raises(click.ClickException) as caught:
        connect(near, vendor=vendor, profile_id=profile.id, token="guessed-token", is_sandbox=True)
    assert caught.value.message == f"{vendor} does not know this token"
    sandbox.plan({"route": "account$|shop.json$", "kind": "status", "status": 403})
    with pytest.raises(click.ClickException, match=r"refuses to say whose token this is \(HTTP 403\)"):
        connect(near, vendor=vendor, profile_id=profile.id, token=TOKENS[vendor], is_sandbox=True)
    assert rows(near) == []


@pytest.mark.parametrize("shop", [None, "", "shop.example.com", "a/b", "shop.myshopify.com.example"])
def test_a_shop_is_asked_at_an_address_of_shopify_alone(settings: Settings, profile: Profile, shop: str | None) -> None:
    with pytest.raises(click.BadParameter) as caught:
        connect(settings, vendor="shopify", profile_id=profile.id, token="shpat_1", shop=shop)
    assert caught.value.param_hint == "--shop"


@pytest.mark.parametrize("token", ["", "a b", "line\nbreak", "k\u00e9y"])
def test_what_no_token_is_goes_nowhere(near: Settings, sandbox: RunningSandbox, profile: Profile, token: str) -> None:
    with pytest.raises(click.BadParameter):
        connect(near, vendor="stripe", profile_id=profile.id, token=token, is_sandbox=True)
    assert sandbox.hits() == []


def test_an_archived_profile_gets_no_account(near: Settings, profile: Profile) -> None:
    with transaction(near.operational_url) as session:
        session.get_one(Profile, profile.id).archived_at = now()
    with pytest.raises(click.BadParameter, match="there is no profile"):
        connect(near, vendor="stripe", profile_id=profile.id, token=TOKENS["stripe"], is_sandbox=True)


def test_the_command_reads_the_token_where_no_list_of_processes_shows_it(
    settings: Settings, near: Settings, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHLEDGER_SANDBOX_PORT", str(near.sandbox_port))
    arguments = ["connect", "stripe", "--profile", profile.id, "--sandbox", "--json"]
    done = CliRunner().invoke(main, arguments, input=f"{TOKENS['stripe']}\n")
    assert done.exit_code == 0, done.output
    assert TOKENS["stripe"] not in done.output
    assert json.loads(done.stdout)["account"] == "acct_1AlderFinch"


@pytest.mark.parametrize(
    ("vendor", "faults", "rights"),
    [
        ("stripe", ["/disputes$", "/customers$"], ["disputes", "customers"]),
        ("stripe", ["/charges$", "/refunds$", "/invoices$"], ["charges", "refunds", "invoices"]),
        ("shopify", ["read_orders,read_all_orders"], ["read_orders", "read_all_orders"]),
    ],
)
def test_what_a_token_may_not_read_is_told_when_it_is_connected(
    near: Settings,
    sandbox: RunningSandbox,
    profile: Profile,
    monkeypatch: pytest.MonkeyPatch,
    vendor: str,
    faults: list[str],
    rights: list[str],
) -> None:
    by_list = [{"route": route, "kind": "status", "status": 403, "times": None} for route in faults]
    by_scope = {"route": "access_scopes", "kind": "scope_missing", "code": faults[0], "times": None}
    sandbox.plan(*(by_list if vendor == "stripe" else [by_scope]))
    monkeypatch.setenv("TOUCHLEDGER_SANDBOX_PORT", str(near.sandbox_port))
    arguments = ["connect", vendor, "--profile", profile.id, "--sandbox", "--json"]
    done = CliRunner().invoke(main, arguments, input=f"{TOKENS[vendor]}\n")
    assert done.exit_code == 0, done.output
    assert [one["right"] for one in json.loads(done.stdout)["lacking"]] == rights
    assert [line.split("; ")[0] for line in done.stderr.splitlines()] == [
        f"{vendor}: the token lacks the right {right}" for right in rights
    ]
    assert [row.status for row in rows(near)] == ["active"]


def test_who_may_write_a_stores_products_may_read_them(near: Settings, sandbox: RunningSandbox) -> None:
    asked = Client("shopify", "", "", "", sandbox.url, True)
    with Transport(PATIENCE) as transport:
        found = lacking(asked, transport, "", ["write_products", "read_orders"])
    assert [one.right for one in found] == ["read_all_orders"]
