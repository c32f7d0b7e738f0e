"""Asking a connected provider while somebody waits: how each failure is told, and what it does to the connection."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from api import connections, errors
from api.models import Connection, Profile
from connectors.errors import Refused
from connectors.meta_ads import MetaAds
from connectors.shopify import Shopify
from connectors.transport import Policy
from tests.factories import connected
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings

HASTY = Policy(attempts=2, longest_wait=1, first_backoff=0.01, longest_backoff=0.02, read_timeout=60)
ACCOUNT = {"route": r"/act_\d+$", "times": None}


def connect(settings: Settings, profile: Profile, sandbox: RunningSandbox, **more: Any) -> Connection:
    return connected.to_meta(settings.operational_url, profile, sandbox.url, **more)


def ask(
    settings: Settings, connection: Connection, *, within: float = 60, writes: bool = False, policy: Policy = HASTY
) -> None:
    with connections.asking(settings, connection, within=within, writes=writes, policy=policy) as transport:
        MetaAds(connection.base_url, connection.token, connection.external_account_id, transport).entities()


def refused(settings: Settings, connection: Connection, **more: Any) -> errors.ApiError:
    with pytest.raises(errors.ApiError) as caught:
        ask(settings, connection, **more)
    return caught.value


def state(settings: Settings, connection: Connection) -> tuple[str, str | None]:
    row = connected.reload(settings.operational_url, connection)
    return row.status, row.status_reason


@pytest.mark.parametrize(
    ("fault", "status", "code", "reason"),
    [
        ({"kind": "status", "status": 500}, 502, "provider_error", "unavailable"),
        ({"kind": "reset"}, 502, "provider_error", "unavailable"),
        ({"kind": "html", "status": 200}, 502, "provider_error", "bad_response"),
        ({"kind": "truncation"}, 502, "provider_error", "bad_response"),
        ({"kind": "throttled", "wait": 60}, 502, "provider_error", "throttled"),
        ({"kind": "code", "code": "100"}, 502, "provider_error", "refused"),
        ({"kind": "code", "code": "200"}, 403, "forbidden", "platform_permission_denied"),
        ({"kind": "revoked"}, 409, "connection_revoked", None),
    ],
    ids=lambda value: value.get("kind") if isinstance(value, dict) else None,
)
def test_each_failure_is_told_by_one_code(
    settings: Settings, profile: Profile, sandbox: RunningSandbox,
    fault: dict[str, Any], status: int, code: str, reason: str | None,
) -> None:  # fmt: skip
    connection = connect(settings, profile, sandbox)
    sandbox.plan({**ACCOUNT, **fault})
    told = refused(settings, connection)
    assert (told.code.status, told.code.code, told.reason) == (status, code, reason)
    assert "sandbox" not in told.message


def test_a_dead_token_is_noted_and_deleted_and_says_where_to_connect_anew(
    settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    connection = connect(settings, profile, sandbox, token="dead")
    told = refused(settings, connection)
    assert told.fields["reconnect_required"] is True
    assert told.fields["reconnect_url"].startswith(settings.base_url) and connection.id in told.fields["reconnect_url"]
    assert state(settings, connection) == ("reconnect_required", "connection_revoked")
    assert connected.reload(settings.operational_url, connection).token == ""
    assert sandbox.calls() == 1


def test_a_token_given_meanwhile_is_not_judged_by_the_old_one(
    settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    connection = connect(settings, profile, sandbox)
    connection.token = "dead"
    assert refused(settings, connection).code is errors.CONNECTION_REVOKED
    assert state(settings, connection) == ("active", None)


def test_a_withheld_permission_needs_action_until_a_call_is_let_through(
    settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    connection = connect(settings, profile, sandbox)
    sandbox.plan({**ACCOUNT, "kind": "code", "code": "10", "times": 1})
    refused(settings, connection)
    assert state(settings, connection) == ("needs_action", "permission_missing")
    again = connected.reload(settings.operational_url, connection)
    ask(settings, again)
    assert state(settings, connection) == ("active", None)


def test_a_store_that_its_provider_suspended_needs_action_and_is_told_as_a_refusal(
    settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    connection = connected.to_store(settings.operational_url, profile, sandbox.url)
    sandbox.plan({"route": "/graphql.json$", "kind": "status", "status": 402})
    with pytest.raises(errors.ApiError) as caught, connections.asking(settings, connection, within=60) as transport:
        shop = Shopify(connection.base_url, connection.token, connection.external_account_id, transport)
        shop.products_page(since=None, after=None, most=1)
    assert (caught.value.code, caught.value.reason) == (errors.PROVIDER_ERROR, "refused")
    assert state(settings, connection) == ("needs_action", "shop_frozen")


def test_a_permission_to_write_that_is_missing_leaves_the_reading_connection_as_it_is(
    settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    connection = connect(settings, profile, sandbox)
    sandbox.plan({**ACCOUNT, "kind": "code", "code": "294"})
    assert refused(settings, connection, writes=True).code is errors.PLATFORM_WRITE_PERMISSION_MISSING
    assert state(settings, connection) == ("active", None)


def test_the_whole_time_is_kept_whatever_repeats(settings: Settings, profile: Profile, sandbox: RunningSandbox) -> None:
    connection = connect(settings, profile, sandbox)
    sandbox.plan({**ACCOUNT, "kind": "delay", "seconds": 150})
    begun = time.monotonic()
    told = refused(settings, connection, within=0.3, policy=replace(HASTY, read_timeout=200))
    assert time.monotonic() - begun < 100
    assert (told.code, told.reason) == (errors.PROVIDER_ERROR, "timeout")
    # a busy machine may take all of the time before it has asked once
    assert sandbox.calls() <= 1


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ([], 0),
        (["active", "reconnect_required"], 1),
        (["needs_action", "pending"], 1),
        (["pending"], errors.CONNECTION_NOT_READY),
        (["pending_selection"], errors.CONNECTION_NOT_READY),
        (["reconnect_required", "pending"], errors.CONNECTION_REVOKED),
        (["disconnected"], 0),
    ],
    ids=str,
)
def test_which_connections_may_be_asked(
    settings: Settings, profile: Profile, statuses: list[str], outcome: int | errors.Code
) -> None:
    for number, status in enumerate(statuses):
        connected.to_meta(settings.operational_url, profile, "http://nowhere", account=number, status=status)
    found = connections.of_profile(settings.operational_url, profile_id=profile.id, kind="ad_platform")
    if isinstance(outcome, int):
        assert len(connections.usable(settings, found)) == outcome
        return
    with pytest.raises(errors.ApiError) as caught:
        connections.usable(settings, found)
    assert caught.value.code is outcome


def test_a_connection_without_a_token_is_not_ready(settings: Settings, profile: Profile) -> None:
    found = [connected.to_meta(settings.operational_url, profile, "http://nowhere", token="")]
    with pytest.raises(errors.ApiError) as caught:
        connections.usable(settings, found)
    assert caught.value.code is errors.CONNECTION_NOT_READY


def test_a_refusal_carries_the_providers_own_number(
    settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    connection = connect(settings, profile, sandbox)
    sandbox.plan({**ACCOUNT, "kind": "code", "code": "100", "subcode": 1487056, "message": "ada@example.com"})
    told = refused(settings, connection)
    assert told.fields == {"provider_code": "100/1487056"}
    assert "100/1487056" in told.message and "ada" not in told.message


@pytest.mark.parametrize(
    ("reason", "told"),
    [("budget_too_low", "under the platform's own minimum"), ("budget_between_steps", "larger steps of this currency")],
)
def test_an_amount_that_the_platform_does_not_take_is_the_callers_to_mend(
    settings: Settings, reason: str, told: str
) -> None:
    refused = connections.refusal(settings, Connection(), Refused("google", "no", reason=reason), writes=True)
    assert (refused.code.status, refused.code.code) == (422, "validation_error")
    assert told in refused.message
