"""Media of the chat app are copied once and served for a week under an address of ours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine
from flask import Flask, Response, request
from flask.testing import FlaskClient

from api import chat_media, db
from api.models import ChatMedia, Connection
from connectors.meta_graph import VERSION
from sandbox.chatapp import PICTURE, PNG
from tests.api.v1.chatapp.conftest import Business
from tests.fixtures.sandbox import RunningSandbox, served


def resolved(business: Business, media_id: str = PICTURE) -> dict[str, Any]:
    answer = business.get(f"/chatapp/media/{media_id}")
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.get_json()["data"]
    return data


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.get_json()["error"]["code"]


def path_of(data: dict[str, Any], business: Business) -> str:
    return str(data["url"]).removeprefix(business.settings.base_url)


def test_the_bytes_are_copied_once_and_found_under_our_address(
    business: Business, client: FlaskClient, sandbox: RunningSandbox
) -> None:
    sandbox.plan()
    data = resolved(business)
    assert (data["mime_type"], data["size_bytes"]) == ("image/png", len(PNG))
    with client.get(path_of(data, business)) as got:
        assert (got.status_code, got.data, got.mimetype) == (200, PNG, "image/png")
        assert got.headers["Content-Disposition"].startswith("attachment")
        assert got.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert resolved(business) == data
    assert sandbox.calls(f"/chat-media/{PICTURE}") == 1


def test_a_forged_address_opens_nothing(business: Business, client: FlaskClient) -> None:
    path = path_of(resolved(business), business)
    for forged in (path[:-2] + "xx", "/media/x", f"/media/{PICTURE}"):
        assert client.get(forged).status_code == 404


def test_after_a_week_address_and_bytes_are_gone_and_the_media_may_be_copied_anew(
    business: Business, client: FlaskClient
) -> None:
    path = path_of(resolved(business), business)
    with time_machine.travel(db.now() + timedelta(days=7, minutes=1), tick=False):
        assert client.get(path).status_code == 404
        chat_media.forget_expired(business.settings)
        with db.transaction(business.settings.operational_url) as session:
            assert session.query(ChatMedia).count() == 0
        with time_machine.travel(db.now() + timedelta(hours=2), tick=False):
            chat_media.forget_expired(business.settings)
        assert list((business.settings.home / "media").iterdir()) == []
    assert path_of(resolved(business), business) != path


def test_two_who_ask_at_once_both_get_an_address_that_opens(business: Business, client: FlaskClient) -> None:
    found = []
    for _ in range(2):
        with chat_media.writing(business.settings) as (file, path):
            file.write(PNG)
            file.flush()
            about = {"connection": business.connection, "media_id": PICTURE, "mime_type": "image/png"}
            found.append(chat_media.keep(business.settings, written=path, size=len(PNG), **about))
    for one in found:
        with client.get(chat_media.url_of(business.settings, one).removeprefix(business.settings.base_url)) as got:
            assert (got.status_code, got.data) == (200, PNG)


def test_an_address_opens_until_it_expires_though_the_media_were_copied_anew(
    business: Business, client: FlaskClient
) -> None:
    first = resolved(business)
    with time_machine.travel(db.now() + timedelta(days=6, hours=1), tick=False):
        second = resolved(business)
        assert second["expires_at"] > first["expires_at"]
        with client.get(path_of(first, business)) as got:
            assert (got.status_code, got.data) == (200, PNG)


def test_a_copy_outlives_what_the_platform_keeps(business: Business) -> None:
    business.outside(media={"78": 40})
    first = resolved(business, "78")
    httpx.delete(business.control, trust_env=False).raise_for_status()
    with time_machine.travel(db.now() + timedelta(days=6, hours=1), tick=False):
        assert resolved(business, "78") == first
    with time_machine.travel(db.now() + timedelta(days=8), tick=False):
        assert refusal(business.get("/chatapp/media/78")) == (410, "media_expired")


@pytest.mark.parametrize("media_id", ["999", "a-name", "1/2"])
def test_media_that_the_platform_does_not_know_are_gone(business: Business, media_id: str) -> None:
    answer = business.get(f"/chatapp/media/{media_id}")
    assert refusal(answer) == ((404, "not_found") if "/" in media_id else (410, "media_expired"))


def test_media_above_the_cap_are_refused_before_they_are_fetched(
    business: Business, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    business.outside(media={"77": 5000})
    monkeypatch.setattr(chat_media, "MOST_BYTES", 4000)
    sandbox.plan()
    assert refusal(business.get("/chatapp/media/77")) == (413, "payload_too_large")
    assert sandbox.calls("/chat-media/77") == 0
    assert list((business.settings.home / "media").iterdir()) == []


def test_a_broken_download_leaves_nothing_behind(business: Business, sandbox: RunningSandbox) -> None:
    sandbox.plan({"kind": "status", "route": "/chat-media/", "status": 500})
    answer = business.get(f"/chatapp/media/{PICTURE}")
    assert refusal(answer) == (502, "provider_error")
    assert list((business.settings.home / "media").iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "told", "status"),
    [
        (Response(status=404), (410, "media_expired"), "active"),
        (Response(status=403), (502, "provider_error"), "active"),
        (Response(status=401), (409, "connection_revoked"), "reconnect_required"),
        # larger than the node said
        (Response(b"x" * 4001), (413, "payload_too_large"), "active"),
    ],
)
def test_media_that_cannot_be_had_after_all_leave_nothing_behind(
    business: Business, monkeypatch: pytest.MonkeyPatch, answer: Response, told: tuple[int, str], status: str
) -> None:
    monkeypatch.setattr(chat_media, "MOST_BYTES", 4000)
    app = Flask("platform")
    node = {"mime_type": "image/png", "file_size": 7}
    app.add_url_rule(f"/{VERSION}/5", "node", lambda: {**node, "url": f"{request.host_url}file"})
    app.add_url_rule("/file", "file", lambda: answer)
    with served(app) as url:
        business.set(base_url=url)
        assert refusal(business.get("/chatapp/media/5")) == told
    assert list((business.settings.home / "media").iterdir()) == []
    with db.transaction(business.settings.operational_url) as session:
        assert session.get_one(Connection, business.connection.id).status == status


def test_media_without_a_size_are_a_broken_answer(business: Business) -> None:
    app = Flask("platform")
    app.add_url_rule(f"/{VERSION}/5", "node", lambda: {"url": request.host_url, "mime_type": "image/png"})
    with served(app) as url:
        business.set(base_url=url)
        assert refusal(business.get("/chatapp/media/5")) == (502, "provider_error")


def test_a_connection_of_another_profile_is_nobodys(business: Business) -> None:
    with db.transaction(business.settings.operational_url) as session:
        session.get_one(Connection, business.connection.id).provider = "meta"
    assert refusal(business.get(f"/chatapp/media/{PICTURE}")) == (404, "not_found")
