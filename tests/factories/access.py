"""A small deployment with every kind of credential, and a way to put it back as it was after a write."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from api import db
from api.credentials import digest
from api.models import ApiKey, Profile, UserSession, UserToken, Workspace
from api.roles import Role
from api.scopes import Scope
from tests.factories import accounts, people
from touchledger.settings import Settings

UNKNOWN = "01900000-0000-7000-8000-00000000ffff"
# where the named profiles are
HOME_OF = {"own": "own", "sibling": "own", "foreign": "foreign"}


@dataclass(frozen=True)
class Who:
    """One credential and what is true of its holder, in the words of the access rules.

    `kind` is none and dead for what opens nothing. `carries` are the scopes of the credential; None stands for all.
    """

    name: str
    header: str | None
    kind: str
    carries: frozenset[str] | None = None
    key_of: str | None = None
    partner: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    permissions: tuple[str, ...] = ()
    provisioned: frozenset[str] = frozenset()
    delegated: frozenset[str] = frozenset()


class World:
    """Two workspaces: `own` with the profiles own and sibling, `foreign` with one; and who may ask."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.url = settings.operational_url
        self.file = Path(self.url.removeprefix("sqlite:///"))
        self._beside: sqlite3.Connection | None = None
        own, foreign = accounts.profile(self.url), accounts.profile(self.url, name="Foreign")
        with db.transaction(self.url) as session:
            sibling = Profile(workspace_id=own.workspace_id, name="Sibling", timezone="UTC", reporting_currency="USD")
            session.add(sibling)
        self.profiles = {"own": own, "sibling": sibling, "foreign": foreign}
        self.workspace_ids = {"own": own.workspace_id, "foreign": foreign.workspace_id, "unknown": UNKNOWN}
        self.profile_ids = {name: profile.id for name, profile in self.profiles.items()} | {"unknown": UNKNOWN}
        self.workspace_ids["malformed"] = self.profile_ids["malformed"] = "12"
        made = [*self._nobody(), *self._apps(), *self._keys(), *self._people()]
        self.who = {one.name: one for one in made}
        self.permitted = {one.name: one for one in self._permitted()}
        db.close_engines(self.url)
        self.kept = self.file.with_suffix(".kept")
        shutil.copyfile(self.file, self.kept)

    def restore(self) -> None:
        """Put the database back: what a write did is undone."""
        self.close()
        for name in ("-wal", "-shm"):
            self.file.with_name(self.file.name + name).unlink(missing_ok=True)
        shutil.copyfile(self.kept, self.file)

    def close(self) -> None:
        """Let go of the database."""
        db.close_engines(self.url)
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def forget_rates(self) -> None:
        """Give every credential its whole allowance again."""
        if self._beside is None:
            self._beside = sqlite3.connect(self.file, timeout=10)
            self._beside.execute("pragma synchronous = off")
        with self._beside:
            self._beside.execute("delete from rate_uses")

    def _nobody(self) -> list[Who]:
        return [
            Who("no credential", None, "none"),
            Who("another scheme", "Digest 12", "none"),
            Who("a wrong checksum", "Bearer tl_live_" + "A" * 38, "none"),
        ]

    def _apps(self) -> list[Who]:
        one, other = people.app(self.url), people.app(self.url)
        self.app = one.app
        people.delegate(self.url, one.app, self.profiles["own"])
        people.delegate(self.url, other.app, self.profiles["foreign"])
        with db.transaction(self.url) as session:
            session.get_one(Workspace, self.workspace_ids["own"]).provisioned_by_app_id = one.app.id
            session.get_one(Workspace, self.workspace_ids["foreign"]).provisioned_by_app_id = other.app.id
        mine, theirs = frozenset({"own"}), frozenset({"foreign"})
        return [
            Who("the app that provisioned it", one.header, "app", provisioned=mine, delegated=mine),
            Who("another app", other.header, "app", provisioned=theirs, delegated=theirs),
        ]

    def _keys(self) -> list[Who]:
        own, all_of_them = self.profiles["own"], list(Scope)
        due = db.now() - timedelta(minutes=1)

        def bearer(profile: Profile, *, scopes: list[Scope] = all_of_them, app_id: str | None = None) -> str:
            return f"Bearer {accounts.secret(self.url, profile, scopes=scopes, app_id=app_id)}"

        revoked, expired, rotated = bearer(own), bearer(own), bearer(own)
        with db.transaction(self.url) as session:
            stored = {key.digest: key for key in session.query(ApiKey)}
            stored[_digest(revoked)].revoked_at = due
            stored[_digest(expired)].expires_at = due
            old = stored[_digest(rotated)]
            old.expires_at, old.rotated_to_id = db.now() + timedelta(hours=48), stored[_digest(expired)].id
        bare = frozenset({Scope.REALTIME_READ.value})
        return [
            Who("a revoked key", revoked, "dead"),
            Who("an expired key", expired, "dead"),
            Who("a rotated key in its grace", rotated, "api_key", key_of="own"),
            Who("a key of this profile", bearer(own), "api_key", key_of="own"),
            Who("a key with one scope", bearer(own, scopes=[Scope.REALTIME_READ]), "api_key", bare, key_of="own"),
            Who("a partner key", bearer(own, app_id=self.app.id), "api_key", key_of="own", partner=True),
            Who("a key of a sibling", bearer(self.profiles["sibling"]), "api_key", key_of="sibling"),
            Who("a key of another workspace", bearer(self.profiles["foreign"]), "api_key", key_of="foreign"),
        ]

    def _people(self) -> list[Who]:
        made, due = [], db.now() - timedelta(minutes=1)
        for role in (Role.OWNER, Role.ADMIN, Role.EDITOR, Role.VIEWER):
            person = people.user(self.url)
            people.member(self.url, person, self.workspace_ids["own"], role)
            session = f"Bearer {people.session_of(self.url, person)}"
            made.append(Who(f"a session of the {role.word}", session, "session", roles={"own": role.word}))
            if role is Role.OWNER:
                owner = person
        for name in ("own", "sibling"):
            guest = people.user(self.url)
            people.member(self.url, guest, self.workspace_ids["own"], Role.GUEST, profiles=[self.profiles[name]])
            session = f"Bearer {people.session_of(self.url, guest)}"
            told = f"a session of a guest of {'this profile' if name == 'own' else 'a sibling'}"
            made.append(Who(told, session, "session", roles={"own": "guest"}, places={name: "guest"}))
        stranger = people.user(self.url)
        people.member(self.url, stranger, self.workspace_ids["foreign"], Role.OWNER)
        session = f"Bearer {people.session_of(self.url, stranger)}"
        made.append(Who("a stranger's session", session, "session", roles={"foreign": "owner"}))
        for grant, carries in GRANTS.items():
            token = f"Bearer {people.token_of(self.url, owner, grants=[grant])}"
            made.append(Who(f"a token with {grant}", token, "user_token", carries, roles={"own": "owner"}))
        ended, gone = people.session_of(self.url, owner), people.token_of(self.url, owner)
        with db.transaction(self.url) as unit:
            unit.query(UserSession).filter_by(digest=digest(ended)).one().revoked_at = due
            unit.query(UserToken).filter_by(digest=digest(gone)).one().expires_at = due
        made += [Who("an ended session", f"Bearer {ended}", "dead"), Who("an expired token", f"Bearer {gone}", "dead")]
        return made

    def _permitted(self) -> list[Who]:
        made, own = [], self.profiles["own"]
        for name, (role, place, permissions) in PERMITTED.items():
            person, profiles = people.user(self.url), [own] if place else []
            given: dict[str, Any] = {"permissions": permissions, "profiles": profiles, "profile_role": place or role}
            people.member(self.url, person, self.workspace_ids["own"], role, **given)
            session = f"Bearer {people.session_of(self.url, person)}"
            places = {"own": place.word} if place else {}
            roles = {"own": role.word}
            made.append(Who(name, session, "session", roles=roles, places=places, permissions=tuple(permissions)))
        return made


EVERY = [
    *("pii.view", "campaigns.apply", "exports.manage", "connections.manage"),
    *("goals.manage", "tracking.manage", "reports.manage", "creatives.analyze"),
]
# role in the workspace, that on the profile of a guest, and what is given and taken beside it
PERMITTED: dict[str, tuple[Role, Role | None, list[str]]] = {
    "an editor with every permission": (Role.EDITOR, None, EVERY),
    "an editor without any of them": (Role.EDITOR, None, [f"-{one}" for one in EVERY]),
    "a viewer with every permission": (Role.VIEWER, None, EVERY),
    "a guest with every permission": (Role.GUEST, Role.GUEST, EVERY),
    "a guest who edits, with every permission": (Role.GUEST, Role.EDITOR, EVERY),
}
GRANTS = {
    "mcp:read": frozenset({"analytics:read", "campaigns:read", "conversions:read", "realtime:read"}),
    "mcp:read_pii": frozenset({"customers:read"}),
    "mcp:write": frozenset(
        {
            *("exports:read", "exports:write", "goals:write", "attribution:write", "tracking:write"),
            *("reports:write", "workspaces:write", "profiles:write", "campaigns:apply"),
        }
    ),
}
NAMES = [
    *("no credential", "another scheme", "a wrong checksum", "a revoked key", "an expired key", "an ended session"),
    *("an expired token", "the app that provisioned it", "another app", "a rotated key in its grace"),
    *("a key of this profile", "a key with one scope", "a partner key", "a key of a sibling"),
    *("a key of another workspace", "a session of the owner", "a session of the admin", "a session of the editor"),
    *("a session of the viewer", "a session of a guest of this profile", "a session of a guest of a sibling"),
    *("a stranger's session", *(f"a token with {grant}" for grant in GRANTS)),
]


def _digest(header: str) -> str:
    return digest(header.removeprefix("Bearer "))
