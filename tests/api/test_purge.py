"""Profiles out of service: what an archive ends and removes, of these profiles and of no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from api import credentials, db, purge
from api.db import Base
from api.models import (
    ApiKey,
    App,
    CollectedEvent,
    Connection,
    Delegation,
    Event,
    ExportDestination,
    ExportRow,
    Handoff,
    IngestedRecord,
    Invitation,
    ManualRefund,
    Membership,
    OAuthAuthorization,
    Profile,
    ProfileMembership,
    Purge,
    SharedSnapshot,
    SharedSnapshotProfile,
    TrackingKey,
    User,
    WebhookSubscription,
)
from api.roles import Role
from tests.factories import accounts, exports, people, shared

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)

# what is kept of an archived profile, and why
KEPT = {
    "audit_entries": "the trail",
    "pii_accesses": "the log",
    "purges": "the purge itself",
    "erasures": "receipts",
    "delegations": "lets the app that made it ask again",
    "api_keys": "revoked",
    "profile_memberships": "removed with the archive",
    "invitations": "revoked",
    "oauth_authorizations": "revoked",
    "connections": "disconnected",
    "webhook_subscriptions": "paused",
    "webhook_events": "name nobody, and are forgotten after 30 days",
    "tracking_keys": "revoked",
    "handoffs": "canceled",
    "entitlements": "what an app had switched on",
    "agreement_signatures": "evidence of a contract",
    "writebacks": "a trail of what agents changed",
    "platform_changes": "what the trail tells once it has ended",
    "shared_snapshot_profiles": "their links are revoked, and without rows",
    "conversion_catalogs": "what was let out, beside the ledger",
    "export_destinations": "switched off; the ledger names them",
    "export_rows": "the ledger",
    "dataset_targets": "what was chosen at the platform, which stays so there",
    "partner_audiences": "lists that live on at the platform",
}


def count(url: str, model: type[Base], *where: Any) -> int:
    with db.transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(model).where(*where)) or 0


def fill(url: str, profile: Profile) -> None:
    """One row of everything that a purge or an archive is about."""
    guest = people.user(url)
    people.member(url, guest, profile.workspace_id, Role.GUEST, profiles=[profile])
    for _ in range(2):
        accounts.secret(url, profile)
    destination = exports.destination(url, profile, exports.connection(url, profile, status="disconnected", token=""))
    for status in ("queued", "sent"):
        exports.row(url, destination, status=status)
    with db.transaction(url) as session:
        sent = {"profile_id": profile.id, "fingerprint": "f"}
        session.add(IngestedRecord(**sent, dataset="touches", record_key="k", record={}))
        session.add(Event(**sent, id=db.new_id()))
        seen = {"event_id": "e", "event_name": "page_view", "occurred_at": db.now()}
        session.add(CollectedEvent(profile_id=profile.id, **seen))
        refund = ManualRefund(profile_id=profile.id, payment_ref="bank:1", amount=1, currency="USD")
        refund.refunded_at = db.now()
        session.add(refund)
        open_ = {"workspace_id": profile.workspace_id, "email": "a@example.com", "role": "viewer"}
        for days, status in ((1, "pending"), (-1, "pending"), (1, "accepted")):
            invitation = Invitation(**open_, profile_id=profile.id, status=status, invited_by_kind="system")
            invitation.digest, invitation.expires_at = db.new_id(), db.now() + timedelta(days=days)
            session.add(invitation)
        connection = Connection(profile_id=profile.id, provider="stripe", kind="payments", display_name="Till")
        connection.external_account_id, connection.base_url, connection.token = "a", "https://p", "secret"
        session.add(connection)
        allowed = OAuthAuthorization(kind="consumer_app", client_id="c", client_name="C", user_id=guest.id)
        allowed.profile_id, allowed.status = profile.id, "granted"
        session.add(allowed)


def test_an_archive_ends_what_opens_a_profile_and_purges_its_rows_alone(database_url: str) -> None:
    gone, other = accounts.profile(database_url), accounts.profile(database_url, name="Other")
    for profile in (gone, other):
        fill(database_url, profile)
    at = db.now()
    with db.transaction(database_url) as session:
        retired = purge.retire(session, [gone.id], at=at)
    assert retired == purge.Retired(
        profiles_archived=1,
        api_keys_revoked=2,
        memberships_removed=1,
        invitations_revoked=1,
        connections_disconnected=1,
        destinations_disabled=1,
        retained_conversion_exports=2,
        rows_removed=4,
    )
    for profile, left in ((gone, 0), (other, 1)):
        for model in (IngestedRecord, Event, CollectedEvent, ManualRefund, ProfileMembership):
            assert count(database_url, model, model.profile_id == profile.id) == left, model
        assert count(database_url, ApiKey, ApiKey.profile_id == profile.id, ApiKey.revoked_at.is_(None)) == 2 * left
        assert count(database_url, Connection, Connection.profile_id == profile.id, Connection.token != "") == left
        on = (ExportDestination.profile_id == profile.id, ExportDestination.is_enabled)
        assert count(database_url, ExportDestination, *on) == left
        queued = (ExportRow.profile_id == profile.id, ExportRow.status == "queued")
        assert count(database_url, ExportRow, *queued) == left
        granted = (OAuthAuthorization.profile_id == profile.id, OAuthAuthorization.status == "granted")
        assert count(database_url, OAuthAuthorization, *granted) == left
        assert count(database_url, Purge, Purge.profile_id == profile.id) == 1 - left
    with db.transaction(database_url) as session:
        assert session.get_one(Profile, gone.id).archived_at == at


def connect_apps_and_sites(url: str, profile: Profile, adopter: App, provider: App) -> None:
    """What lets apps, pages and holders of links in, ended before or open."""
    on: dict[str, Any] = {"profile_id": profile.id}
    of = {"workspace_id": profile.workspace_id, **on}
    shared.snapshot(url, [profile])
    with db.transaction(url) as session:
        for app, kind in ((adopter, "adopted"), (provider, "provisioned")):
            session.add(Delegation(app_id=app.id, external_ref=profile.id, kind=kind, **on))
        for status, ended_at in (("pending", None), ("completed", LONG_AGO)):
            page = Handoff(kind="connect", url="https://p", expires_at=db.now() + timedelta(hours=1), **of)
            page.status, page.ended_at = status, ended_at
            session.add(page)
        for revoked_at in (None, LONG_AGO):
            session.add(TrackingKey(key=db.new_id(), name="k", revoked_at=revoked_at, **on))
        session.add(WebhookSubscription(url="https://r.example/", secret="s", **of))
        asked = OAuthAuthorization(kind="consumer_app", client_id="c", client_name="C", status="requested", **on)
        asked.user_id = session.scalars(sa.select(User.id).limit(1)).one()
        session.add(asked)


def test_an_archive_ends_what_apps_pages_and_links_have_of_a_profile_and_of_no_other(sqlite_url: str) -> None:
    gone, other = accounts.profile(sqlite_url), accounts.profile(sqlite_url, name="Other")
    adopter, provider = people.app(sqlite_url).app, people.app(sqlite_url).app
    people.user(sqlite_url)
    for profile in (gone, other):
        connect_apps_and_sites(sqlite_url, profile, adopter, provider)
    at = db.now()
    with db.transaction(sqlite_url) as session:
        purge.retire(session, [gone.id], at=at)

    def of(profile: Profile, *what: Any) -> list[Any]:
        with db.transaction(sqlite_url) as session:
            chosen = sa.select(*what).where(what[0].class_.profile_id == profile.id)
            return sorted((tuple(row) for row in session.execute(chosen)), key=str)

    for profile, pages, keys, status, tied, asked in (
        (gone, ("canceled", at), at, "paused", ["provisioned"], "revoked"),
        (other, ("pending", None), None, "active", ["adopted", "provisioned"], "requested"),
    ):
        assert of(profile, Handoff.status, Handoff.ended_at) == sorted([("completed", LONG_AGO), pages], key=str)
        assert of(profile, TrackingKey.revoked_at) == sorted([(LONG_AGO,), (keys,)], key=str)
        assert of(profile, WebhookSubscription.status) == [(status,)]
        assert of(profile, Delegation.kind) == [(kind,) for kind in tied]
        assert of(profile, OAuthAuthorization.status) == [(asked,)]
        ((shown,),) = of(profile, SharedSnapshotProfile.shared_snapshot_id)
        with db.transaction(sqlite_url) as session:
            assert session.get_one(SharedSnapshot, shown).revoked_at == (at if profile is gone else None)


def test_an_invitation_of_a_guest_ends_with_the_last_of_its_profiles(database_url: str) -> None:
    """It stayed open, took a place in the plan for two weeks, and whoever accepted it heard that there is nothing."""
    gone, far = accounts.profile(database_url), accounts.profile(database_url)
    kept = Profile(workspace_id=gone.workspace_id, name="Kept", timezone="UTC", reporting_currency="USD")
    with db.transaction(database_url) as session:
        session.add(kept)
        session.flush()
        for email, listed in (("both", [gone.id, kept.id]), ("gone", [gone.id]), ("all", None), ("far", [far.id])):
            of = far.workspace_id if email == "far" else gone.workspace_id
            invitation = Invitation(workspace_id=of, email=email, role="guest", profile_ids=listed)
            invitation.invited_by_kind, invitation.digest = "system", email
            invitation.expires_at = db.now() + timedelta(days=1)
            session.add(invitation)
    for archived, expected in ((gone, {"both", "all", "far"}), (kept, {"all", "far"})):
        with db.transaction(database_url) as session:
            assert purge.retire(session, [archived.id], at=db.now()).invitations_revoked == 1
            open_ = session.scalars(sa.select(Invitation.email).where(Invitation.status == "pending"))
            assert set(open_) == expected


def test_a_guest_without_another_profile_is_no_member_any_more(database_url: str) -> None:
    gone = accounts.profile(database_url)
    kept = Profile(workspace_id=gone.workspace_id, name="Kept", timezone="UTC", reporting_currency="USD")
    with db.transaction(database_url) as session:
        session.add(kept)
    places: tuple[list[Profile], ...] = ([gone], [gone, kept], [kept])
    guests = [
        people.member(database_url, people.user(database_url), gone.workspace_id, Role.GUEST, profiles=on)
        for on in places
    ]
    owner = people.member(database_url, people.user(database_url), gone.workspace_id)
    # one whose invitation named no profile yet, and one of elsewhere
    waiting = people.member(database_url, people.user(database_url), gone.workspace_id, Role.GUEST)
    with db.transaction(database_url) as session:
        purge.retire(session, [gone.id], at=db.now())
    with db.transaction(database_url) as session:
        assert set(session.scalars(sa.select(Membership.id))) == {guests[1].id, guests[2].id, owner.id, waiting.id}


def test_what_is_archived_already_is_left_as_it_is(sqlite_url: str) -> None:
    profile = accounts.profile(sqlite_url)
    first = db.now()
    with db.transaction(sqlite_url) as session:
        purge.retire(session, [profile.id], at=first)
    with db.transaction(sqlite_url) as session:
        again = purge.retire(session, [profile.id], at=first + timedelta(hours=1))
    assert again == purge.Retired(0, 0, 0, 0, 0, 0, 0, 0)
    with db.transaction(sqlite_url) as session:
        assert session.get_one(Profile, profile.id).archived_at == first


def test_a_key_that_has_ended_is_not_counted_as_revoked(sqlite_url: str) -> None:
    profile = accounts.profile(sqlite_url)
    accounts.secret(sqlite_url, profile, expires_at=db.now() + timedelta(days=1))
    ended = accounts.secret(sqlite_url, profile, expires_at=db.now() + timedelta(days=1))
    with db.transaction(sqlite_url) as session:
        key = session.scalars(sa.select(ApiKey).where(ApiKey.digest == credentials.digest(ended))).one()
        key.expires_at = db.now()
    with db.transaction(sqlite_url) as session:
        assert purge.retire(session, [profile.id], at=db.now()).api_keys_revoked == 1


def test_more_profiles_than_one_statement_binds_are_all_retired(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "IDS", 2)
    profiles = [accounts.profile(sqlite_url) for _ in range(5)]
    for profile in profiles:
        accounts.secret(sqlite_url, profile)
    with db.transaction(sqlite_url) as session:
        retired = purge.retire(session, [profile.id for profile in profiles], at=db.now())
    assert (retired.profiles_archived, retired.api_keys_revoked) == (5, 5)


def test_every_table_of_profiles_is_purged_or_kept_on_purpose() -> None:
    purged = {model.__tablename__ for model in purge.DATA}
    assert purged.isdisjoint(KEPT)
    of_profiles = {name for name, table in Base.metadata.tables.items() if "profile_id" in table.columns}
    assert of_profiles - purged - set(KEPT) == set(), "say in api/purge.py or here what an archive does to these"
