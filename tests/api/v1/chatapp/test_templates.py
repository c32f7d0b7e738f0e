"""Templates are handed in with an example of every placeholder, and the cache is what the platform last showed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from api import db, errors
from api.models import AuditEntry, ChatTemplate, WebhookEvent, WebhookSubscription
from api.scopes import Scope
from api.v1.chatapp import samples
from api.webhooks.egress import Egress
from sandbox.chatapp import PNG
from tests.api.conftest import Caller
from tests.api.v1.chatapp.conftest import Business
from tests.factories import documented
from tests.fixtures.sandbox import RunningSandbox

TEMPLATE = {
    "name": "fitting_moved",
    "category": "UTILITY",
    "language": "en_US",
    "body_text": "Hello {{first_name}}, your fitting is on {{day}} now.",
}


def refusal(response: Any) -> tuple[int, str, str | None]:
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")


def at_platform(business: Business, name: str) -> dict[str, Any]:
    found = httpx.put(business.control, json={}, trust_env=False).json()["templates"]
    return next(row for row in found if row["name"] == name)


def test_a_template_is_handed_in_with_examples_and_kept(business: Business, sandbox: RunningSandbox) -> None:
    sandbox.demand_secret()
    answer = business.post(
        "/chatapp/templates", **TEMPLATE, header_text="New day", footer_text="Reply STOP to end this",
        examples={"first_name": "Ada"},
        buttons=[{"type": "QUICK_REPLY", "text": "Fine"}, {"type": "URL", "text": "Shop", "url": "https://a.example/"}],
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    data = answer.get_json()["data"]
    assert (data["name"], data["language"], data["status"]) == ("fitting_moved", "en_US", "PENDING")
    seen = at_platform(business, "fitting_moved")
    assert (seen["id"], seen["parameter_format"]) == (data["id"], "NAMED")
    assert [part["type"] for part in seen["components"]] == ["HEADER", "BODY", "FOOTER", "BUTTONS"]
    assert seen["components"][1]["example"]["body_text_named_params"] == [
        {"param_name": "first_name", "example": "Ada"},
        {"param_name": "day", "example": "day"},
    ]
    (kept,) = business.get("/chatapp/templates").get_json()["data"]
    assert (kept["id"], kept["status"], kept["quality_score"]) == (data["id"], "PENDING", "UNKNOWN")
    with db.transaction(business.settings.operational_url) as session:
        assert [row.action for row in session.scalars(sa.select(AuditEntry))] == ["chat_template.created"]


def test_numbered_placeholders_keep_their_numbers(business: Business) -> None:
    business.post(
        "/chatapp/templates", **TEMPLATE | {"body_text": "Hello {{1}}, see you {{2}}!"}, examples={"1": "Ada"}
    )
    seen = at_platform(business, "fitting_moved")
    assert seen["parameter_format"] == "POSITIONAL"
    assert seen["components"][0]["example"] == {"body_text": [["Ada", "2"]]}


def test_examples_of_numbered_placeholders_go_by_number_not_by_place(business: Business) -> None:
    text = "Order {{2}} is ready, dear {{1}}; ask for {{2}} at the door."
    business.post("/chatapp/templates", **TEMPLATE | {"body_text": text}, examples={"1": "Ann", "2": "A-17"})
    assert at_platform(business, "fitting_moved")["components"][0]["example"] == {"body_text": [["Ann", "A-17"]]}


@pytest.mark.parametrize(
    ("examples", "shown"), [({"1": "spring sale"}, "spring%20sale"), ({}, "1")], ids=["given", "left out"]
)
def test_the_part_of_an_address_that_changes_has_an_example(
    business: Business, examples: dict[str, str], shown: str
) -> None:
    urls = ("https://a.example/{{1}}", "https://a.example/")
    buttons = [{"type": "URL", "text": f"Shop {n}", "url": url} for n, url in enumerate(urls)]
    answer = business.post("/chatapp/templates", **TEMPLATE, buttons=buttons, examples=examples)
    assert answer.status_code == 201, answer.text
    dynamic, fixed = at_platform(business, "fitting_moved")["components"][-1]["buttons"]
    assert (dynamic["url"], dynamic["example"]) == (urls[0], [shown])
    assert "example" not in fixed


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"body_text": "Hello {{1}} and {{3}}!"}, "body_text: {{2}} is missing"),
        ({"body_text": "Hello {{1}}!", "header_text": "To {{2}}"}, "header_text: {{1}} is missing"),
        ({"body_text": "Hello {{1}} and {{name}}"}, "either all named or all numbered"),
        ({"body_text": "Hello {{First Name}}"}, "is no placeholder"),
        ({"buttons": [{"type": "URL", "text": "Shop"}]}, "buttons[0].url: is required"),
        ({"buttons": [{"type": "QUICK_REPLY", "text": "x", "url": "https://a.example"}]}, "buttons[0].url: does not"),
        ({"buttons": [{"type": "PHONE_NUMBER", "text": "Call", "phone_number": "+34600111222"}] * 2}, "more than 1"),
        (
            {"header_text": "a", "header_media": {"type": "image", "url": "https://a.example/a"}},
            "header_text: excludes",
        ),
        ({"header_media": {"type": "image", "url": "https://127.0.0.1/a.png"}}, "header_media.url: does not lead"),
        ({"header_media": {"type": "image", "url": "http://a.example/a.png"}}, "must begin with https"),
        ({"name": "Fitting"}, "name: has other signs"),
        ({"language": "english"}, "language: is no code"),
        ({"body_text": "{{name}} first"}, "does not accept the content"),
    ],
)
def test_a_template_that_cannot_be_is_refused_by_its_field(
    business: Business, changed: dict[str, Any], said: str
) -> None:
    response = business.post("/chatapp/templates", **{**TEMPLATE, **changed})
    assert refusal(response) == (422, "validation_error", None)
    assert said in response.get_json()["error"]["message"]


def test_the_same_name_and_language_are_refused_and_another_language_is_not(business: Business) -> None:
    assert business.post("/chatapp/templates", **TEMPLATE).status_code == 201
    assert refusal(business.post("/chatapp/templates", **TEMPLATE)) == (409, "invalid_state", "duplicate_name")
    assert business.post("/chatapp/templates", **TEMPLATE | {"language": "es"}).status_code == 201


def test_an_account_that_nobody_pays_for_is_told_so(business: Business) -> None:
    business.outside(unpaid=True)
    assert refusal(business.post("/chatapp/templates", **TEMPLATE)) == (402, "chatapp_payment_required", None)


def form(business: Business, content: bytes, mime_type: str, **changed: Any) -> Any:
    payload = json.dumps({"connection_id": business.connection.id, **TEMPLATE, **changed})
    parts = {"payload": payload, "header_media": (io.BytesIO(content), "sample", mime_type)}
    return business.caller.post("/chatapp/templates", data=parts, content_type="multipart/form-data")


def test_a_sample_of_the_header_is_uploaded_first(business: Business, sandbox: RunningSandbox) -> None:
    sandbox.demand_secret()
    answer = form(business, PNG, "image/png")
    assert answer.status_code == 201, answer.text
    header = at_platform(business, "fitting_moved")["components"][0]
    assert header["format"] == "IMAGE"
    assert header["example"]["header_handle"][0].startswith("4::")


@pytest.mark.parametrize(
    ("content", "mime_type", "refused"),
    [
        (b"", "image/png", (400, "invalid_content", None)),
        (PNG, "image/gif", (400, "invalid_content", None)),
        (b"<html>", "image/png", (400, "invalid_content", None)),
        (PNG + b"\0" * 100, "image/png", (413, "payload_too_large", None)),
    ],
    ids=["empty", "another type", "something else", "too large"],
)
def test_a_sample_that_does_not_fit_is_refused(
    business: Business,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    mime_type: str,
    refused: tuple[int, str, str | None],
) -> None:
    monkeypatch.setitem(samples.FORMATS, "image/png", ("IMAGE", len(PNG)))
    assert refusal(form(business, content, mime_type)) == refused


def test_a_form_without_its_parts_is_refused(business: Business) -> None:
    lone = business.caller.post(
        "/chatapp/templates", data={"payload": json.dumps({"connection_id": business.connection.id, **TEMPLATE})},
        content_type="multipart/form-data",
    )  # fmt: skip
    assert refusal(lone) == (400, "invalid_content", None)
    payload = json.dumps({"connection_id": business.connection.id, **TEMPLATE})
    for more in ({"payload": [payload, payload]}, {"payload": payload, "other": "x"}):
        parts = {"header_media": (io.BytesIO(PNG), "sample", "image/png"), **more}
        odd = business.caller.post("/chatapp/templates", data=parts, content_type="multipart/form-data")
        assert refusal(odd) == (400, "invalid_content", None)
    assert refusal(form(business, PNG, "image/png", header_text="Both")) == (422, "validation_error", None)


def test_a_sample_at_an_address_is_fetched_and_checked(sandbox_files: str) -> None:
    egress = Egress({"https://files.example": sandbox_files})
    wanted = {"type": "image", "url": "https://files.example/a.png"}
    with samples.fetched(wanted, egress=egress) as sample:
        assert (sample.format, sample.stream.read()) == ("IMAGE", PNG)
    for url, kind in (("a.png", "video"), ("gone.png", "image"), ("page.png", "image")):
        with (
            pytest.raises(errors.ApiError),
            samples.fetched({"type": kind, "url": f"https://files.example/{url}"}, egress=egress),
        ):
            pass


def test_a_file_at_an_address_that_is_larger_than_any_sample_is_too_large(
    sandbox_files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "MOST_BYTES", len(PNG) - 1)
    egress = Egress({"https://files.example": sandbox_files})
    wanted = {"type": "image", "url": "https://files.example/a.png"}
    with pytest.raises(errors.ApiError) as refused, samples.fetched(wanted, egress=egress):
        pass
    assert refused.value.code is errors.PAYLOAD_TOO_LARGE


def test_a_sync_takes_over_what_the_platform_shows_and_tells_who_listens(business: Business) -> None:
    with db.transaction(business.settings.operational_url) as session:
        workspace_id = _workspace_of(session, business)
        subscribed = WebhookSubscription(
            workspace_id=workspace_id, url="https://receiver.example/hook", events=["template.updated"]
        )
        subscribed.secret = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"
        session.add(subscribed)
    first = business.post("/chatapp/templates/sync")
    assert first.status_code == 200, first.text
    assert first.get_json()["meta"]["summary"] == {"upserted": 2, "deleted": 0, "statusChanges": 0}
    documented.check(business.caller.client, first, "/api/v1/chatapp/templates/sync")
    assert [row["name"] for row in first.get_json()["data"]] == ["fitting_reminder", "order_on_its_way"]
    assert {row["quality_score"] for row in first.get_json()["data"]} == {"GREEN"}
    business.outside(statuses={"order_on_its_way": "PAUSED"}, drop=["fitting_reminder"])
    again = business.post("/chatapp/templates/sync").get_json()
    assert again["meta"]["summary"] == {"upserted": 1, "deleted": 1, "statusChanges": 2}
    assert {row["name"]: row["status"] for row in again["data"]} == {
        "fitting_reminder": "DELETED", "order_on_its_way": "PAUSED",
    }  # fmt: skip
    third = business.post("/chatapp/templates/sync").get_json()
    assert third["meta"]["summary"] == {"upserted": 1, "deleted": 0, "statusChanges": 0}
    with db.transaction(business.settings.operational_url) as session:
        told = [row.data for row in session.scalars(sa.select(WebhookEvent))]
    assert sorted((one["name"], one["previous_status"], one["status"]) for one in told) == [
        ("fitting_reminder", "APPROVED", "DELETED"),
        ("order_on_its_way", "APPROVED", "PAUSED"),
    ]


def test_the_cache_is_read_without_asking_the_platform(business: Business, caller_with: Callable[..., Caller]) -> None:
    business.post("/chatapp/templates/sync")
    business.set(status="reconnect_required")
    reader = caller_with(scopes=[Scope.CHATAPP_READ])
    query = {"connection_id": business.connection.id, "language": "en_US"}
    (found,) = reader.get("/chatapp/templates/order_on_its_way", query_string=query).get_json()["data"]
    assert found["components"] == [{"type": "BODY", "text": "Your order {{1}} is on its way."}]
    for name, language in (("order_on_its_way", "es"), ("nothing", "en_US")):
        absent = reader.get(f"/chatapp/templates/{name}", query_string={**query, "language": language})
        assert refusal(absent) == (404, "template_not_found", None)
    body = {"connection_id": business.connection.id}
    assert refusal(reader.post("/chatapp/templates/sync", json=body))[1] == "insufficient_scope"


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        ("disconnected", (409, "chatapp_connection_required", None)),
        ("pending", (409, "connection_not_ready", None)),
        ("reconnect_required", (409, "connection_revoked", None)),
    ],
)
def test_a_connection_that_cannot_be_asked_says_what_ails_it(
    business: Business, status: str, refused: tuple[int, str, str | None]
) -> None:
    business.set(status=status)
    assert refusal(business.post("/chatapp/templates/sync")) == refused
    assert refusal(business.post("/chatapp/templates", **TEMPLATE)) == refused


def test_a_template_needs_an_account_before_it_needs_the_right_one(business: Business) -> None:
    # whoever had none heard only that the connection is not there
    other = {**TEMPLATE, "connection_id": db.new_id()}
    assert refusal(business.caller.post("/chatapp/templates", json=other)) == (404, "not_found", None)
    for columns in ({"status": "disconnected"}, {"status": "active", "provider": "social"}):
        business.set(**columns)
        missing = refusal(business.caller.post("/chatapp/templates", json=other))
        assert missing == (409, "chatapp_connection_required", None)
    assert refusal(business.post("/chatapp/templates/sync")) == (404, "not_found", None)


def test_a_dead_token_ends_the_connection_and_nothing_is_kept(business: Business) -> None:
    business.set(token="dead")
    assert refusal(business.post("/chatapp/templates", **TEMPLATE)) == (409, "connection_revoked", None)
    assert refusal(business.post("/chatapp/templates/sync")) == (409, "connection_revoked", None)
    with db.transaction(business.settings.operational_url) as session:
        assert session.scalars(sa.select(ChatTemplate)).all() == []


def _workspace_of(session: Any, business: Business) -> str:
    from api.models import Profile

    return str(session.get_one(Profile, business.connection.profile_id).workspace_id)
