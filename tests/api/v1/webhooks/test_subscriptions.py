"""Subscriptions and their deliveries through the API: who sees which, what is refused, and what is shown once."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db
from api.models import AuditEntry, Profile, WebhookDelivery, WebhookSubscription, Workspace
from api.purge import retire
from api.roles import Role
from api.scopes import Scope
from api.v1.workspaces.archive import archive
from api.webhooks.delivering import deliver
from api.webhooks.emitting import emit_for_profile
from tests.api.conftest import Caller
from tests.factories import accounts, people
from tests.factories.receivers import PUBLIC, URL, Receiver, names, receiving
from touchledger.settings import Settings

PATH = "/webhooks/subscriptions"
WANTED = {"url": URL, "events": ["report.ready"]}
SCOPES = (Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE)


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    public = {"receiver.example": [PUBLIC], "other.example": [PUBLIC], "inside.example": ["10.0.0.7"]}
    monkeypatch.setattr(socket, "getaddrinfo", names(public))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as listening:
        yield listening


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=SCOPES)


@pytest.fixture
def admin(client: FlaskClient, settings: Settings, profile: Profile) -> Caller:
    return signed_in(client, settings, profile.workspace_id)


def signed_in(client: FlaskClient, settings: Settings, workspace_id: str, role: Role = Role.ADMIN) -> Caller:
    person = people.user(settings.operational_url)
    people.member(settings.operational_url, person, workspace_id, role)
    return Caller(client, people.session_of(settings.operational_url, person))


def code(answer: Any) -> tuple[int, str, str | None]:
    error = answer.json["error"]
    return answer.status_code, error["code"], error.get("reason")


def made(caller: Caller, path: str = PATH, **changes: Any) -> dict[str, Any]:
    answer = caller.post(path, json={**WANTED, **changes})
    assert answer.status_code == 201, answer.text
    return dict(answer.json["data"])


def ids(caller: Caller, path: str = PATH) -> set[str]:
    return {row["id"] for row in caller.get(path).json["data"]}


def happened(settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        emit_for_profile(session, "report.ready", {"report_id": "r"}, profile.id)


def test_nobody_subscribes_without_the_scope(anonymous: Caller, caller_with: Callable[..., Caller]) -> None:
    assert anonymous.post(PATH, json=WANTED).status_code == 401
    reader = caller_with(scopes=[Scope.CONNECTIONS_READ])
    assert code(reader.post(PATH, json=WANTED))[:2] == (403, "insufficient_scope")
    assert reader.get(PATH).status_code == 200


def test_a_secret_is_shown_once_and_signs_what_is_delivered(
    key: Caller, settings: Settings, profile: Profile, receiver: Receiver
) -> None:
    again = {"Idempotency-Key": "one"}
    first = key.post(PATH, json=WANTED, headers=again).json["data"]
    replayed = key.post(PATH, json=WANTED, headers=again).json["data"]
    assert replayed == {**first, "secret": None}
    assert (first["status"], first["profile_id"], first["consecutive_failures"]) == ("active", profile.id, 0)
    assert "secret" not in key.get(PATH).json["data"][0]
    happened(settings, profile)
    deliver(settings, receiver.egress)
    assert receiver.read(0, first["secret"])["type"] == "report.ready"


REFUSED = (
    *("http://receiver.example", "https://receiver.example:8443", "https://inside.example"),
    *("https://unknown.example", "https://127.0.0.1", "https://[::1]/", "receiver", "", 7),
)


@pytest.mark.parametrize(
    "body",
    [
        *({"url": url} for url in REFUSED),
        *({"events": events} for events in ([], ["report.done"], "report.ready", [None])),
        {"more": 1},
    ],
)  # fmt: skip
def test_an_address_or_a_kind_that_cannot_be_is_refused(key: Caller, body: dict[str, Any]) -> None:
    assert code(key.post(PATH, json={**WANTED, **body}))[:2] == (422, "validation_error")


def test_an_address_is_subscribed_once_in_a_profile_and_once_in_the_workspace(
    key: Caller, admin: Caller, profile: Profile
) -> None:
    made(key)
    assert code(key.post(PATH, json=WANTED)) == (409, "invalid_state", "duplicate_subscription")
    for spelt in (
        "https://RECEIVER.example/hook",
        "https://receiver.example:443/hook",
        "https://receiver.example:/hook",
    ):
        assert code(key.post(PATH, json={**WANTED, "url": spelt}))[2] == "duplicate_subscription"
    whole = f"{PATH}?workspace_id={profile.workspace_id}"
    made(admin, whole)
    assert code(admin.post(whole, json=WANTED)) == (409, "invalid_state", "duplicate_subscription")
    other = made(key, url="https://other.example/")
    assert code(key("PATCH", f"{PATH}/{other['id']}", json={"url": URL})) == (
        *(409, "invalid_state"),
        "duplicate_subscription",
    )
    assert key("PATCH", f"{PATH}/{other['id']}", json={"url": "https://Other.example"}).status_code == 200


def test_the_plan_bounds_the_subscriptions_of_a_workspace(key: Caller, admin: Caller) -> None:
    for number in range(3):
        made(key, url=f"{URL}/{number}")
    assert code(admin.post(PATH, json=WANTED))[:2] == (402, "plan_upgrade_required")


def test_keys_see_their_profiles_and_admins_the_whole_workspace(
    key: Caller, admin: Caller, settings: Settings, profile: Profile, client: FlaskClient
) -> None:
    url = settings.operational_url
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).plan = "agency"
    sibling = Profile(workspace_id=profile.workspace_id, name="Other", timezone="UTC", reporting_currency="USD")
    with db.transaction(url) as session:
        session.add(sibling)
    own, whole = made(key), made(admin)
    beside = made(admin, f"{PATH}?profile_id={sibling.id}")
    assert (whole["profile_id"], beside["profile_id"]) == (None, sibling.id)
    assert ids(key) == {own["id"]}
    assert ids(admin) == {own["id"], whole["id"], beside["id"]}
    assert ids(admin, f"{PATH}?profile_id={profile.id}") == {own["id"]}
    for number in (whole["id"], beside["id"], "01900000-0000-7000-8000-000000000000"):
        assert code(key("PATCH", f"{PATH}/{number}", json={"status": "paused"}))[:2] == (404, "not_found")
        assert code(key("DELETE", f"{PATH}/{number}"))[:2] == (404, "not_found")
    stranger = signed_in(client, settings, accounts.profile(url).workspace_id)
    assert code(stranger.get(f"{PATH}?workspace_id={profile.workspace_id}"))[:2] == (404, "not_found")


def test_less_than_an_admin_is_refused_and_who_has_several_workspaces_names_one(
    client: FlaskClient, settings: Settings, profile: Profile
) -> None:
    editor = signed_in(client, settings, profile.workspace_id, Role.EDITOR)
    assert code(editor.post(PATH, json={})) == (403, "forbidden", "role_required")
    person, url = people.user(settings.operational_url), settings.operational_url
    other = accounts.profile(url).workspace_id
    for workspace_id in (profile.workspace_id, other):
        people.member(url, person, workspace_id, Role.OWNER)
    both = Caller(client, people.session_of(url, person))
    assert code(both.get(PATH)) == (400, "invalid_request", "workspace_id_required")
    assert both.get(f"{PATH}?workspace_id={other}").json["meta"] == {"workspace_id": other}


def test_a_failed_subscription_starts_anew_when_it_is_made_active(key: Caller, settings: Settings) -> None:
    number = made(key)["id"]
    with db.transaction(settings.operational_url) as session:
        row = session.get_one(WebhookSubscription, number)
        row.status, row.failure_reason, row.consecutive_failures, row.dead_since = "failed", "gone", 10, db.now()
    assert code(key("PATCH", f"{PATH}/{number}", json={"status": "failed"}))[:2] == (422, "validation_error")
    assert code(key("PATCH", f"{PATH}/{number}", json={}))[:2] == (422, "validation_error")
    assert code(key("PATCH", f"{PATH}/{number}", json={"status": "paused"})) == (409, "invalid_state", None)
    found = key("PATCH", f"{PATH}/{number}", json={"status": "active", "events": ["*", "*"]}).json["data"]
    assert (found["status"], found["failure_reason"], found["consecutive_failures"]) == ("active", None, 0)
    assert found["events"] == ["*"]


def test_a_second_rotation_never_cuts_the_grace_of_the_first(key: Caller) -> None:
    first = made(key)
    path = f"{PATH}/{first['id']}/rotate-secret"
    with time_machine.travel(datetime(2026, 6, 1, tzinfo=UTC), tick=False):
        assert key.post(path, json={"grace_days": 2}).status_code == 201
        assert code(key.post(path, json={"grace_days": 2})) == (409, "invalid_state", "already_rotated")
    with time_machine.travel(datetime(2026, 6, 3, tzinfo=UTC), tick=False):
        assert key.post(path, json={"grace_days": 2}).status_code == 201
        assert key.post(path, json={"grace_days": 0}).json["data"]["previous_secret_expires_at"] is None


def test_a_rotated_secret_signs_beside_the_new_one_for_its_grace(
    key: Caller, settings: Settings, profile: Profile, receiver: Receiver
) -> None:
    with time_machine.travel(datetime(2026, 6, 1, tzinfo=UTC), tick=False) as clock:
        first = made(key)
        rotated = key.post(f"{PATH}/{first['id']}/rotate-secret", json={"grace_days": 2}).json["data"]
        assert rotated["previous_secret_expires_at"] == "2026-06-03T00:00:00.000Z"
        happened(settings, profile)
        deliver(settings, receiver.egress)
        for secret in (first["secret"], rotated["secret"]):
            receiver.read(0, secret)
        clock.shift(timedelta(days=2))
        happened(settings, profile)
        deliver(settings, receiver.egress)
        assert " " not in receiver.came[1][1]["Webhook-Signature"]
        receiver.read(1, rotated["secret"])
    at_once = key.post(f"{PATH}/{first['id']}/rotate-secret", json={"grace_days": 0}).json["data"]
    assert at_once["previous_secret_expires_at"] is None
    for days in (-1, 91, "7", True):
        answer = key.post(f"{PATH}/{first['id']}/rotate-secret", json={"grace_days": days})
        assert code(answer)[:2] == (422, "validation_error")


def test_a_test_goes_to_one_subscription_whatever_it_listens_to(
    key: Caller, settings: Settings, receiver: Receiver
) -> None:
    first = made(key)
    made(key, url="https://other.example/hook", events=["*"])
    answer = key.post(f"{PATH}/{first['id']}/test")
    assert answer.status_code == 202
    deliver(settings, receiver.egress)
    event = receiver.read(0, first["secret"])
    assert (event["id"], event["type"]) == (answer.json["data"]["event_id"], "webhook.test")
    assert len(key.get("/webhooks/deliveries").json["data"]) == 1


def test_deliveries_are_listed_filtered_and_replayed_under_the_same_id(
    key: Caller, settings: Settings, profile: Profile, receiver: Receiver
) -> None:
    first, other = made(key), made(key, url="https://other.example/hook")
    happened(settings, profile)
    waiting = key.get(f"/webhooks/deliveries?subscription_id={first['id']}").json["data"]
    assert [(row["type"], row["status"], row["attempts"]) for row in waiting] == [("report.ready", "pending", 0)]
    replay = f"/webhooks/deliveries/{waiting[0]['delivery_id']}/replay"
    assert code(key.post(replay)) == (409, "invalid_state", "delivery_in_progress")
    with db.transaction(settings.operational_url) as session:
        session.get_one(WebhookSubscription, other["id"]).status = "paused"
    deliver(settings, receiver.egress)
    again = key.post(replay)
    assert (again.status_code, again.json["data"]["event_id"]) == (202, waiting[0]["event_id"])
    assert again.json["data"]["delivery_id"] != waiting[0]["delivery_id"]
    deliver(settings, receiver.egress)
    assert receiver.ids() == [waiting[0]["event_id"]] * 2
    assert len(key.get("/webhooks/deliveries?status=delivered").json["data"]) == 2
    assert len(key.get("/webhooks/deliveries?limit=1").json["data"]) == 1
    assert code(key.get("/webhooks/deliveries?status=sent"))[:2] == (400, "invalid_parameter")
    assert code(key.post(f"/webhooks/deliveries/{first['id']}/replay"))[:2] == (404, "not_found")


def test_a_deleted_subscription_takes_its_deliveries_along(key: Caller, settings: Settings, profile: Profile) -> None:
    number = made(key)["id"]
    happened(settings, profile)
    assert key("DELETE", f"{PATH}/{number}").json["data"] == {"deleted": True}
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(WebhookDelivery)).all() == []
        actions = session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.at)).all()
    assert actions == ["webhook_subscription.created", "webhook_subscription.deleted"]
    assert code(key("DELETE", f"{PATH}/{number}"))[:2] == (404, "not_found")


def test_an_archive_pauses_subscriptions_and_counts_them(
    key: Caller, admin: Caller, settings: Settings, profile: Profile
) -> None:
    made(key), made(admin)
    owner = people.member(settings.operational_url, people.user(settings.operational_url), profile.workspace_id)
    with db.transaction(settings.operational_url) as session:
        retire(session, [profile.id], at=db.now())
        session.flush()
        statuses = session.execute(sa.select(WebhookSubscription.profile_id, WebhookSubscription.status)).all()
        assert {tuple(row) for row in statuses} == {(profile.id, "paused"), (None, "active")}
        counts = archive(session, workspace_id=profile.workspace_id, by=owner.user_id, at=db.now()).counts
        assert counts["webhook_subscriptions_paused"] == 1
        assert set(session.scalars(sa.select(WebhookSubscription.status))) == {"paused"}


def test_a_profile_without_attribution_takes_no_subscriptions(
    key: Caller, settings: Settings, profile: Profile
) -> None:
    with db.transaction(settings.operational_url) as session:
        row = session.get_one(Profile, profile.id)
        row.provisioned_by_app_id, row.attribution_enabled = "01900000-0000-7000-8000-000000000001", False
    assert code(key.post(PATH, json=WANTED))[:2] == (409, "entitlement_required")
    assert key.get(PATH).status_code == 200
