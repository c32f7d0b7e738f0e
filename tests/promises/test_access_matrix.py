"""Every operation, asked by every kind of credential, about every kind of id: the first refusal is the promised one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.guard import guard_of
from api.snapshot import snapshots
from tests.factories.access import GRANTS, NAMES, PERMITTED, UNKNOWN, Who, World
from tests.factories.deployments import application, migrate
from tests.promises.access_rules import (
    NOT_FOUND,
    RETIRED,
    WRITES,
    Operation,
    Target,
    closed_to_tokens,
    of_credential,
    refusal,
)
from tests.promises.access_rules import (
    PERMITTED as SCOPES_OF,
)
from touchledger.settings import Settings

# what a route may answer once the door is open; 403 only where the state of things forbids it
LET_IN = {200, 201, 202, 400, 402, 404, 409, 410, 413, 422, 501, 502, 503}
OF_STATE = {"profile_limit_reached", "app_provisioned_workspace", "not_provisioned_by_app", "writeback_disabled"}
# a part of the path that is no id of a workspace or a profile, where one word out of a few is expected
WORDS = {"feature": "atribu_attribution"}

# a POST that only reads
READS = {"/workspaces/<workspace_id>/top-performers/export"}

PROFILES = ("own", "sibling", "foreign", "unknown", "malformed")
WORKSPACES = ("own", "foreign", "unknown", "malformed")
THOROUGH = {
    *("a key of this profile", "a session of the owner", "a session of a guest of this profile"),
    *("a token with mcp:read", "the app that provisioned it"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = Settings(home=tmp_path_factory.mktemp("matrix"))
    migrate(settings)
    world = World(settings)
    yield world
    world.close()
    snapshots(settings).close()


@pytest.fixture(scope="module")
def app(world: World) -> Flask:
    return application(world.settings)


@pytest.fixture(scope="module")
def operations(app: Flask) -> list[Operation]:
    """The guard table: every route that asks for a credential."""
    found = []
    for rule in app.url_map.iter_rules():
        guard = guard_of(app.view_functions[rule.endpoint])
        if guard is None or guard.is_public:
            continue
        found += [
            Operation(
                method=method,
                rule=re.sub(r"<\w+:", "<", rule.rule),
                kinds=frozenset(kind.value for kind in guard.kinds),
                scopes=frozenset(scope.value for scope in guard.scopes),
                grain=guard.grain.value,
                role=guard.role.word,
                partner=guard.partner,
                key_scopes=None if guard.key_scopes is None else frozenset(one.value for one in guard.key_scopes),
                token_scopes=None if guard.token_scopes is None else frozenset(one.value for one in guard.token_scopes),
                by_place=guard.by_place,
                uuids=guard.uuids,
            )
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        ]
    return found


def targets(operation: Operation, who: Who) -> list[Target]:
    """Every way to name what is theirs, what is not, what is nowhere and what is no id.

    A credential that opens nothing here gets the same answer to each, so three are asked; ids in the query of a route
    that has its own in the path are asked by one credential of each kind.
    """
    both = operation.takes("workspace_id") and operation.takes("profile_id")
    if both:
        found = [Target("own", one) for one in PROFILES] + [Target(one, "own") for one in WORKSPACES[1:]]
    elif operation.takes("workspace_id"):
        found = [Target(one) for one in WORKSPACES]
    elif operation.takes("profile_id"):
        found = [Target(profile=one) for one in PROFILES]
    else:
        found = [Target(), *(Target(asked_profile=one) for one in PROFILES)]
    if of_credential(operation, who):
        return [one for one in found if {"own", "foreign", "malformed"} & {one.workspace, one.profile}][:3] or found[:3]
    if set(operation.uuids) - {"workspace_id", "profile_id"}:
        found.append(replace(found[0], other_ids="malformed"))
    return [*found, *_in_the_query(operation)] if who.name in THOROUGH else found


def _in_the_query(operation: Operation) -> list[Target]:
    if operation.takes("workspace_id"):
        asked = [Target("own", asked_profile=one) for one in PROFILES if not operation.takes("profile_id")]
        placed = "own" if operation.takes("profile_id") else None
        return [*asked, Target("own", placed, asked_workspace="foreign")]
    if operation.takes("profile_id"):
        return [Target(profile="own", asked_profile="sibling"), Target(profile="own", asked_workspace="foreign")]
    asked = [Target(asked_workspace=one) for one in WORKSPACES]
    return [*asked, Target(asked_profile="own", asked_workspace="foreign")]


class Asking:
    """Sends the cases of one credential and keeps what was not as promised."""

    def __init__(self, world: World, client: FlaskClient, who: Who) -> None:
        self.world, self.client, self.who = world, client, who
        self.wrong: list[str] = []
        self.unknown_body = b""

    def every_target(self, operation: Operation) -> None:
        self.unknown_body = b""
        self.world.forget_rates()
        # what is nowhere comes first: its answer is what the other refusals are compared with
        for target in sorted(targets(operation, self.who), key=lambda one: one != nowhere(operation)):
            self.one(operation, target)

    def one(self, operation: Operation, target: Target) -> None:
        promised = refusal(operation, self.who, target)
        response = self._ask(operation, target)
        status = response.status_code
        error = response.get_json()["error"] if status >= 400 else {}
        code = error.get("code", "")
        if operation.method in WRITES and status < 300:
            self.world.restore()
        entered = status in LET_IN or (status == 403 and OF_STATE & {code, error.get("reason")})
        if not ((status, code) == promised if promised else entered):
            case = f"{operation.method} {operation.path} {_words(target)}"
            self.wrong.append(f"{case}: promised {promised or 'entry'}, got {status} {code} {error.get('message', '')}")
        elif promised == NOT_FOUND:
            self._same_as_unknown(operation, target, response)

    def _same_as_unknown(self, operation: Operation, target: Target, response: TestResponse) -> None:
        body = _without_id(response)
        if not self.unknown_body:
            unknown = nowhere(operation)
            self.unknown_body = body if target == unknown else _without_id(self._ask(operation, unknown))
        if body != self.unknown_body:
            self.wrong.append(
                f"{operation.method} {operation.path}: a 404 that tells more than an unknown id's: {body!r}"
            )

    def _ask(self, operation: Operation, target: Target) -> TestResponse:
        profile, workspace = self.world.profile_ids.get, self.world.workspace_ids.get
        parts = {"workspace_id": workspace(target.workspace or ""), "profile_id": profile(target.profile or "")}
        other = "12" if target.other_ids == "malformed" else UNKNOWN
        path = re.sub(r"<(\w+)>", lambda part: parts.get(part[1]) or WORDS.get(part[1], other), operation.rule)
        asked = {"profile_id": profile(target.asked_profile or "")}
        asked["workspace_id"] = workspace(target.asked_workspace or "")
        query = "&".join(f"{name}={value}" for name, value in asked.items() if value)
        headers = {"Authorization": self.who.header} if self.who.header else {}
        body = {"data": b"{}", "content_type": "application/json"} if operation.method in WRITES else {}
        return self.client.open(path, method=operation.method, query_string=query, headers=headers, **body)


def nowhere(operation: Operation) -> Target:
    """Names what nobody has, in the path where the operation has an id there."""
    named = Target(**{name: "unknown" for name in ("workspace", "profile") if operation.takes(f"{name}_id")})
    return Target(asked_profile="unknown") if named == Target() else named


def _without_id(response: TestResponse) -> bytes:
    """The body of an error without its request's id."""
    return re.sub(rb"req_[0-9a-f]{32}", b"", response.data)


def _words(target: Target) -> str:
    named = {"in path": target.workspace, "/": target.profile, "?profile": target.asked_profile}
    named |= {"?workspace": target.asked_workspace, "other ids": target.other_ids}
    return ", ".join(f"{name} {value}" for name, value in named.items() if value and value != "unknown")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_refusal_is_the_promised_one(
    world: World, app: Flask, operations: list[Operation], name: str
) -> None:
    asking = Asking(world, app.test_client(use_cookies=False), world.who[name])
    for operation in operations:
        asking.every_target(operation)
    assert asking.wrong == [], "\n".join(asking.wrong)


@pytest.mark.parametrize("name", PERMITTED)
def test_a_permission_gives_what_the_interface_lists_and_only_to_whom(
    world: World, app: Flask, operations: list[Operation], name: str
) -> None:
    asking = Asking(world, app.test_client(use_cookies=False), world.permitted[name])
    named = [one for one in operations if one.scopes & frozenset().union(*SCOPES_OF.values())]
    assert len(named) > 40
    for operation in named:
        world.forget_rates()
        within = {part: "own" for part in ("workspace", "profile") if operation.takes(f"{part}_id")}
        asking.one(operation, Target(**within) if within else Target(asked_profile="own"))
    assert asking.wrong == [], "\n".join(asking.wrong)


def test_a_grant_to_read_changes_nothing_in_a_workspace(operations: list[Operation]) -> None:
    reading = GRANTS["mcp:read"] | GRANTS["mcp:read_pii"]
    open_to_tokens = [one for one in operations if "user_token" in one.kinds and not closed_to_tokens(one)]
    administering = [one for one in open_to_tokens if one.method in WRITES and one.grain != "profile"]
    administering = [one for one in administering if one.path not in RETIRED | READS]
    assert [f"{one.method} {one.path}" for one in administering if one.scopes <= reading] == []


def test_the_matrix_has_every_credential_of_the_world(world: World) -> None:
    assert set(world.who) == set(NAMES)
