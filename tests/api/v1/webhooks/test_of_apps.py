"""Of several apps that a profile let in, none sees or changes what another one is told."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from tests.api.conftest import Caller
from tests.api.v1.webhooks.test_subscriptions import PATH, SCOPES, code, ids, made
from tests.factories import people
from tests.factories.receivers import PUBLIC, URL, names
from touchledger.settings import Settings

CHANGES = {
    "PATCH": ("", {"status": "paused"}),
    "DELETE": ("", None),
    "rotation": ("/rotate-secret", {"grace_days": 0}),
    "test": ("/test", {}),
}


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", names({"receiver.example": [PUBLIC]}))


@pytest.fixture
def keys(caller_with: Callable[..., Caller], settings: Settings) -> tuple[Caller, Caller, Caller]:
    """Keys of two apps, and one of the profile's own."""
    apps = [people.app(settings.operational_url).app.id for _ in range(2)]
    one, other, own = (caller_with(scopes=SCOPES, app_id=app_id) for app_id in (*apps, None))
    return one, other, own


def test_an_app_sees_its_own_subscriptions_and_the_profile_all(keys: tuple[Caller, Caller, Caller]) -> None:
    one, other, own = keys
    # the same address is no secret that a refusal tells
    subscribed = [made(caller)["id"] for caller in (one, other)]
    assert (ids(one), ids(other), ids(own)) == ({subscribed[0]}, {subscribed[1]}, set(subscribed))
    assert code(one.post(PATH, json={"url": URL, "events": ["*"]})) == (409, "invalid_state", "duplicate_subscription")
    assert other.post(f"{PATH}/{subscribed[1]}/test", json={}).status_code == 202
    assert [len(caller.get("/webhooks/deliveries").json["data"]) for caller in (one, other, own)] == [0, 1, 1]


@pytest.mark.parametrize("change", CHANGES)
def test_an_app_changes_nothing_of_another(keys: tuple[Caller, Caller, Caller], change: str) -> None:
    one, other, own = keys
    kept = made(one)["id"]
    path, body = CHANGES[change]
    method = change if change in {"PATCH", "DELETE"} else "POST"
    refused = other(method, f"{PATH}/{kept}{path}", json=body)
    assert code(refused)[:2] == (404, "not_found")
    assert own(method, f"{PATH}/{kept}{path}", json=body).status_code < 300
