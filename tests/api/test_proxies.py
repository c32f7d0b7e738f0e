"""Whose address counts behind proxies: what the outermost one of ours added, and nothing that a caller wrote."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import request
from werkzeug.test import TestResponse

from api.app import create_app
from api.guard import public
from api.http import Blueprint
from tests.api.conftest import Caller
from touchledger.settings import Settings

PROXY, CALLER, FORGED = "10.0.0.1", "198.51.100.7", "203.0.113.9"


def seen(settings: Settings, trusted: int, forwarded: str) -> tuple[str, str]:
    """(address, root of its own address) that a route sees, asked through a proxy at `PROXY`."""
    bp = Blueprint("seen", "seen")

    @bp.route("/seen")
    @public
    def told() -> dict[str, str | None]:
        return {"address": request.remote_addr, "root": request.url_root}

    headers = {"X-Forwarded-For": forwarded, "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    client = create_app(settings.model_copy(update={"trusted_proxies": trusted}), more=[bp]).test_client()
    response = client.get("/api/v1/seen", headers=headers, environ_base={"REMOTE_ADDR": PROXY})
    body = response.get_json()
    return body["address"], body["root"]


@pytest.mark.parametrize(
    ("trusted", "forwarded", "address"),
    [
        (0, CALLER, PROXY),
        (1, CALLER, CALLER),
        (1, f"{FORGED}, {CALLER}", CALLER),
        (2, f"{FORGED}, {CALLER}, 10.0.0.2", CALLER),
        (2, CALLER, PROXY),
    ],
)
def test_the_address_is_the_one_that_our_outermost_proxy_added(
    settings: Settings, trusted: int, forwarded: str, address: str
) -> None:
    assert seen(settings, trusted, forwarded) == (address, "http://localhost/")


@pytest.mark.parametrize("mapped", [f"::ffff:{CALLER}", f"::FFFF:{CALLER}"])
def test_an_ipv4_address_that_a_socket_of_ipv6_tells_is_that_address(settings: Settings, mapped: str) -> None:
    assert seen(settings, 1, mapped)[0] == CALLER
    assert seen(settings, 1, "2001:db8::7")[0] == "2001:db8::7"
    assert seen(settings, 1, "::ffff:nowhere")[0] == "::ffff:nowhere"


def test_callers_of_ipv4_at_a_socket_of_ipv6_do_not_lock_each_other_out(settings: Settings) -> None:
    client = create_app(settings).test_client()

    def tried(caller: str, number: int) -> TestResponse:
        return client.post(
            "/api/v1/auth/sign-in",
            json={"email": f"p{number}@example.com", "password": "wrong"},
            environ_base={"REMOTE_ADDR": f"::ffff:{caller}"},
        )

    assert [tried(CALLER, number).status_code for number in range(51)] == [401] * 50 + [429]
    assert tried(FORGED, 51).status_code == 401


@pytest.mark.parametrize("network", ["198.51.100.0/24", "::ffff:198.51.100.0/120"])
def test_a_key_for_a_network_of_ipv4_works_from_it_at_a_socket_of_ipv6(
    caller_with: Callable[..., Caller], network: str
) -> None:
    caller = caller_with(allowed_ips=[network])
    for address, status in ((CALLER, 200), (f"::ffff:{CALLER}", 200), (FORGED, 403), (f"::ffff:{FORGED}", 403)):
        assert caller.get("/notes", environ_overrides={"REMOTE_ADDR": address}).status_code == status


def test_callers_behind_one_proxy_do_not_lock_each_other_out(settings: Settings) -> None:
    client = create_app(settings.model_copy(update={"trusted_proxies": 1})).test_client()

    def tried(caller: str, number: int) -> TestResponse:
        return client.post(
            "/api/v1/auth/sign-in",
            json={"email": f"p{number}@example.com", "password": "wrong"},
            headers={"X-Forwarded-For": caller},
            environ_base={"REMOTE_ADDR": PROXY},
        )

    assert [tried(CALLER, number).status_code for number in range(51)] == [401] * 50 + [429]
    assert tried(FORGED, 51).status_code == 401
