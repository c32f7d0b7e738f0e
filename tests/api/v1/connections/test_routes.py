"""GET /connections, GET and DELETE /connections/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from api import db
from api.models import AuditEntry, Connection, ConnectionSync, Profile, WebhookEvent, WebhookSubscription
from api.scopes import Scope
from tests.api.conftest import Caller
from tests.factories import accounts, connected, exports
from touchledger.settings import Settings


def one(caller: Caller, connection: Connection) -> dict[str, Any]:
    answer = caller.get(f"/connections/{connection.id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()["data"]
    return found


def subscribe(url: str, profile: Profile) -> None:
    with db.transaction(url) as session:
        session.add(
            WebhookSubscription(
                workspace_id=profile.workspace_id, profile_id=profile.id, url="https://a.example/h", events=["*"],
                secret="sealed",
            )
        )  # fmt: skip


def test_a_connection_is_told_in_the_words_of_the_interface_and_without_its_token(
    settings: Settings, profile: Profile, keyed: Caller
) -> None:
    url = settings.operational_url
    till = exports.connection(
        url, profile, provider="stripe", kind="payments", token="sk_secret", scopes_granted=["read_only"]
    )
    ads = exports.connection(url, profile, external_account_id="", status="pending")
    told = one(keyed, till)
    assert (told["provider"], told["kind"], told["scopes_granted"]) == ("payments", "payments", ["read_only"])
    assert (told["external_account_id"], told["last_sync"]) == (till.external_account_id, None)
    assert (one(keyed, ads)["kind"], one(keyed, ads)["external_account_id"]) == ("ads", None)
    assert "sk_secret" not in keyed.get("/connections").text


def test_the_list_is_of_the_profile_alone_and_paged(settings: Settings, profile: Profile, keyed: Caller) -> None:
    url = settings.operational_url
    own = [exports.connection(url, profile).id for _ in range(3)]
    exports.connection(url, accounts.profile(url, name="Other"))
    first = keyed.get("/connections?limit=2").get_json()
    rest = keyed.get(f"/connections?limit=2&cursor={first['pagination']['cursor']}").get_json()
    assert [row["connection_id"] for row in first["data"] + rest["data"]] == own
    assert rest["pagination"]["has_next"] is False


def test_the_newest_sync_is_told(settings: Settings, profile: Profile, keyed: Caller) -> None:
    made = exports.connection(settings.operational_url, profile)
    with db.transaction(settings.operational_url) as session:
        for status, more in (("done", {"delivery_through": date(2026, 11, 15)}), ("failed", {"error": "throttled"})):
            session.add(
                ConnectionSync(connection_id=made.id, profile_id=profile.id, status=status, started_at=db.now(), **more)
            )
            session.flush()
    sync = one(keyed, made)["last_sync"]
    assert (sync["status"], sync["error"], sync["delivery_through"]) == ("failed", "throttled", None)


def test_a_stranger_and_nobody_are_the_same_404(settings: Settings, profile: Profile, keyed: Caller) -> None:
    foreign = exports.connection(settings.operational_url, accounts.profile(settings.operational_url, name="Other"))
    for number in (foreign.id, db.new_id()):
        for method in ("GET", "DELETE"):
            answer = keyed(method, f"/connections/{number}")
            assert (answer.status_code, answer.get_json()["error"]["code"]) == (404, "not_found")
    assert connected.reload(settings.operational_url, foreign).status == "active"


def test_disconnecting_takes_the_token_and_what_waited_and_blocks_destinations(
    settings: Settings, profile: Profile, keyed: Caller, caller_with: Callable[..., Caller]
) -> None:
    url = settings.operational_url
    subscribe(url, profile)
    made = exports.connection(url, profile)
    exports.destination(url, profile, made)
    with db.transaction(url) as session:
        session.add(ConnectionSync(connection_id=made.id, profile_id=profile.id))
    answer = keyed("DELETE", f"/connections/{made.id}")
    assert answer.get_json()["data"] == {"connection_id": made.id, "status": "disconnected"}
    row = connected.reload(url, made)
    assert (row.status, row.token) == ("disconnected", "")
    assert one(keyed, made)["last_sync"]["error"] == "disconnected"
    blocked = caller_with(scopes=[Scope.EXPORTS_READ]).get("/exports/destinations").get_json()["data"]
    assert [(each["status"], each["status_reason"]) for each in blocked] == [("blocked", "disconnected")]
    with db.transaction(url) as session:
        events = [(event.type, event.data["status"]) for event in session.query(WebhookEvent)]
        trail = [entry.action for entry in session.query(AuditEntry)]
    assert events == [("channel.health.updated", "disconnected")]
    assert trail == ["connection.disconnected"]


def test_disconnecting_again_changes_nothing_and_tells_nobody(
    settings: Settings, profile: Profile, keyed: Caller
) -> None:
    made = exports.connection(settings.operational_url, profile, status="disconnected", token="")
    subscribe(settings.operational_url, profile)
    assert keyed("DELETE", f"/connections/{made.id}").status_code == 200
    with db.transaction(settings.operational_url) as session:
        assert session.query(WebhookEvent).count() == 0
        assert [entry.outcome for entry in session.query(AuditEntry)] == ["no_change"]


def test_an_account_that_was_disconnected_may_be_connected_again(settings: Settings, profile: Profile) -> None:
    url, later = settings.operational_url, db.now() + timedelta(seconds=1)
    gone = exports.connection(url, profile, external_account_id="7", status="disconnected", token="")
    again = exports.connection(url, profile, external_account_id="7", created_at=later)
    assert gone.id != again.id
