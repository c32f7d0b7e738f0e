"""Every route is guarded, scoped, described in OpenAPI and listed in docs/routes.md; and nothing else is."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import Rule

from api import reference
from api.app import create_app
from api.guard import Grain, guard_of, guarded, public
from api.http import Blueprint
from api.openapi import SCHEMES
from api.path_parts import PARTS
from api.scopes import Scope
from tests.factories.deployments import application, settings_of
from touchledger.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"/", "/docs", "/docs/guides", "/docs/<guide>", "/docs/errors", "/docs/data", "/docs/assets/<name>"}
OPEN_ACTS = ("sign-up", "sign-in", "verify-email", "password-reset", "password-reset/confirm")
PAGES |= {"/media/<token>", "/tracker.js", "/logos/<name>"}
PAGES |= {"/sign-in", "/sign-up", "/sign-out", "/invitations", "/handoffs/<page_id>", "/handoffs/<page_id>/begin"}
PAGES |= {"/connect/<provider>", "/connect/<provider>/callback"}
PAGES |= {"/reset-password", "/reset-password/code", "/confirm-address", "/shared/<token>"}
# the bodies of these are OAuth's own, and described there
PAGES |= {"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"}
PAGES |= {"/oauth/register", "/oauth/authorize", "/oauth/token", "/oauth/revoke"}
WITHOUT_VERSION = PAGES | {"/healthz", "/readyz", "/openapi.json", "/api/v1/openapi.json"}
WITHOUT_VERSION |= {"/hooks/payments/<provider>", "/hooks/store/<connection_id>", "/hooks/chat/<connection_id>"}
WITHOUT_VERSION |= {"/api/tracking/collect", "/api/tracking/identity-signal", "/api/tracking/verification/beacon"}
PUBLIC = WITHOUT_VERSION | {f"/api/v1/auth/{act}" for act in OPEN_ACTS}


@pytest.fixture
def app(home: Path) -> Flask:
    return application(settings_of(home))


def spelt(rule: Rule) -> str:
    """The path as OpenAPI writes it."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)


def methods_of(rule: Rule) -> set[str]:
    return (rule.methods or set()) - {"HEAD", "OPTIONS"}


def operations(app: Flask) -> set[tuple[str, str]]:
    return {
        (method, spelt(rule))
        for rule in app.url_map.iter_rules()
        for method in methods_of(rule)
        if rule.rule not in PAGES
    }


def test_every_route_is_guarded_and_the_public_ones_are_known(app: Flask) -> None:
    for rule in app.url_map.iter_rules():
        guard = guard_of(app.view_functions[rule.endpoint])
        assert guard is not None, rule.rule
        assert guard.is_public == (rule.rule in PUBLIC), rule.rule
        needs_none = guard.is_public or guard.partner or guard.grain is Grain.CALLER
        assert needs_none or guard.scope is not None, rule.rule


def test_openapi_describes_exactly_the_routes_that_exist(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    described = {
        (method.upper(), path)
        for path, known in document["paths"].items()
        for method in known
        if method != "parameters"
    }
    assert described == operations(app)


def test_openapi_tells_of_the_idempotency_key_where_it_is_kept(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    unkept = {"/api/v1/auth/password", "/api/v1/dashboard/chat", "/api/v1/workspaces/{workspace}/top-performers/chat"}
    for path, operations_of in document["paths"].items():
        for method, operation in operations_of.items():
            told = [one["in"] for one in operation.get("parameters", []) if one["name"] == "Idempotency-Key"]
            kept = method != "get" and bool(operation["security"]) and path not in unkept
            assert told == (["header"] if kept else []), f"{method} {path}"
            for status, response in operation["responses"].items():
                replayed = "Idempotent-Replayed" in response.get("headers", {})
                assert replayed == (kept and status.startswith("2")), f"{method} {path} {status}"


def test_openapi_says_what_every_parameter_is(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    bare = {
        (path, one["name"])
        for path, operations_of in document["paths"].items()
        for operation in operations_of.values()
        for one in operation.get("parameters", [])
        if not one.get("description")
    }
    assert bare == set()
    # and of no part that is in no path any more
    parts = {part for path in document["paths"] for part in re.findall(r"{(\w+)}", path)}
    assert parts == PARTS.keys()


def test_openapi_lets_lists_with_commas_hold_more_than_one_word(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    for path, operations_of in document["paths"].items():
        for one in operations_of.get("get", {}).get("parameters", []):
            if "," in one["schema"].get("pattern", ""):
                assert "enum" not in one["schema"], f"{path} {one['name']}"


def test_openapi_writes_patterns_in_the_dialect_of_json_schema(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_data(as_text=True)
    patterns = {json.loads(one) for one in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', document)}
    assert len(patterns) > 20
    # of Python alone: ends of the text, named groups and flags
    assert {one for one in patterns if re.search(r"\\[AZz]|\(\?[P#a-zA-Z]", one)} == set()
    assert {one for one in patterns if not one.startswith("^")} == set()


def test_openapi_tells_every_limit_in_the_word_of_its_type(app: Flask) -> None:
    words = {"string": "Length", "array": "Items", "object": "Properties"}
    told: list[tuple[set[str], str]] = []

    def look(part: Any) -> None:
        if isinstance(part, dict) and isinstance(part.get("type"), (str, list)):
            kinds = {part["type"]} if isinstance(part["type"], str) else set(part["type"])
            told.extend((kinds, name) for name in part if name[:3] in {"min", "max"} and name[3:] in words.values())
            # of a number no pattern is read
            assert "pattern" not in part or "string" in kinds, part
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            look(inner)

    look(app.test_client().get("/openapi.json").get_json())
    assert len(told) > 100
    assert [one for one in told if one[1][3:] not in {words.get(kind) for kind in one[0]}] == []


def test_openapi_says_where_an_empty_body_is_refused(app: Flask) -> None:
    schemas = app.test_client().get("/openapi.json").get_json()["components"]["schemas"]
    assert {name for name, schema in schemas.items() if schema.get("minProperties") == 1} == {
        *("AgentSettingsBody", "AppChange", "DestinationChanges", "MembershipBody", "PlaceBody", "SubscriptionChange"),
        *("ListedCustomer", "Selector"),
    }


def test_openapi_says_how_a_caller_with_several_workspaces_names_one(app: Flask) -> None:
    paths = app.test_client().get("/openapi.json").get_json()["paths"]
    operations = [one for path, of in paths.items() if path.startswith("/api/v1/webhooks/") for one in of.values()]
    assert len(operations) == 8
    for operation in operations:
        told = {one["name"]: one for one in operation["parameters"] if one["in"] == "query"}
        assert "several" in told["workspace_id"]["description"]
        assert "instead of a whole workspace" in told["profile_id"]["description"]


def test_openapi_gives_every_refusal_the_one_body(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    for path, operations_of in document["paths"].items():
        for method, operation in operations_of.items():
            for status, response in operation["responses"].items():
                named = response.get("$ref", "").rpartition("/")[2]
                described = document["components"]["responses"][named] if named else response
                if status[0] in "45d":
                    body, own = described["content"]["application/json"]["schema"], (path, status) == ("/readyz", "503")
                    assert own or body == {"$ref": "#/components/schemas/ErrorEnvelope"}, (method, path)
                    assert ("Retry-After" in described["headers"]) == (status in {"429", "503"})
                    if operation["security"]:
                        rated = {"X-RateLimit-Limit", "X-RateLimit-Remaining"} <= described["headers"].keys()
                        assert rated == (status != "401"), f"{method} {path} {status}"
                        assert ("WWW-Authenticate" in described["headers"]) == (status in {"401", "403"})


def test_openapi_security_is_the_guard(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    for rule in app.url_map.iter_rules():
        guard = guard_of(app.view_functions[rule.endpoint])
        if rule.rule in PAGES or guard is None:
            continue
        for method in methods_of(rule):
            operation: dict[str, Any] = document["paths"][spelt(rule)][method.lower()]
            schemes = [scheme for entry in operation["security"] for scheme in entry]
            if guard.is_public:
                assert schemes == []
                continue
            written = re.sub(r"<\w+:", "<", rule.rule)
            assert list(dict.fromkeys(schemes)) == [SCHEMES[kind][0] for kind in guard.kinds_for(method, written)]
            assert operation.get("x-scope", "") == " ".join(guard.scopes)
            assert operation.get("x-partner-key", False) == guard.partner
            assert {"400", "401", "403", "404", "429", "503"} <= set(operation["responses"])


def test_openapi_asks_keys_for_the_scopes_that_keys_need(app: Flask) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    # analytics:read, which people's tokens need there, had been asked of keys and apps too
    for path, of_keys in {
        "/api/v1/profiles": [[]],
        "/api/v1/profiles/{profile_id}": [[]],
        "/api/v1/handoffs/{handoff_id}": [["connections:read"], ["connections:write"]],
    }.items():
        asked = document["paths"][path]["get"]["security"]
        assert [one["apiKey"] for one in asked if "apiKey" in one] == of_keys, path
        assert [one["userToken"] for one in asked if "userToken" in one] == [["analytics:read"]], path
        assert not any(one.get("app") for one in asked), path


def test_the_committed_list_of_routes_is_current(app: Flask) -> None:
    assert (ROOT / "docs" / "routes.md").read_text() == reference.routes_page(app)


def test_the_list_of_routes_tells_the_role_that_openapi_tells(app: Flask) -> None:
    paths = app.test_client().get("/openapi.json").get_json()["paths"]
    row = re.compile(r"^\| (\w+) \| `(\S+)` \|[^|]+\| (\S+) \|", re.MULTILINE)
    # webhooks are about a workspace that only the query names, and no role was listed for them
    for method, path, role in row.findall(reference.routes_page(app)):
        told = paths.get(re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path), {}).get(method.lower(), {}).get("x-role")
        assert role in ({told} if told else {"guest", "-"}), f"{method} {path}"


def test_a_route_is_written_in_full_once_per_method(app: Flask) -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "api").rglob("*.py"))
    found = Counter(re.findall(r'(?:route|get)\("([^"]*)"', sources))
    for rule, methods in Counter(rule.rule for rule in app.url_map.iter_rules()).items():
        written = rule.removeprefix("/api/v1") if rule not in WITHOUT_VERSION else rule
        assert found[written] == methods, rule


def test_a_write_says_what_its_body_holds(app: Flask) -> None:
    # a form of their own, and what is gone and answers that to everybody
    others = {"/imports", "/workspaces/<workspace_id>/branding/logo", "/dashboard/chat"}
    others |= {"/workspaces/<workspace>/top-performers/chat"}
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        guard, path = guard_of(view), rule.rule.removeprefix("/api/v1")
        if guard is None or guard.is_public or path in others or not methods_of(rule) & {"POST", "PUT", "PATCH"}:
            continue
        declared = vars(view)["_apidoc"].get("arguments", {"parameters": []})["parameters"]
        assert any(one["in"] in {"json", "form"} for one in declared), path


def test_a_view_without_a_guard_does_not_import() -> None:
    bp = Blueprint("open", __name__)
    with pytest.raises(TypeError, match="neither guarded nor public"):

        @bp.route("/open")
        def nobody_checks() -> dict[str, str]:
            """Open."""
            return {}


def test_a_write_that_is_not_idempotent_does_not_import() -> None:
    bp = Blueprint("twice", __name__)
    with pytest.raises(TypeError, match="not idempotent"):

        @bp.route("/twice", methods=["POST"])
        @guarded(scope=Scope.EVENTS_WRITE)
        def written_twice() -> dict[str, str]:
            """Twice."""
            return {}


def test_a_scope_that_no_grant_yields_is_never_offered_to_user_tokens(home: Path) -> None:
    bp = Blueprint("closed", __name__)

    @bp.route("/closed")
    @guarded(scope=Scope.EVENTS_WRITE)
    @bp.response(200)
    def key_only() -> dict[str, str]:
        """Closed."""
        return {}

    @bp.route("/open")
    @public
    @bp.response(200)
    def everyone() -> dict[str, str]:
        """Open."""
        return {}

    paths = create_app(Settings(home=home), more=[bp]).test_client().get("/openapi.json").get_json()["paths"]
    assert [list(entry) for entry in paths["/api/v1/closed"]["get"]["security"]] == [["apiKey"], ["session"]]
    assert paths["/api/v1/open"]["get"]["security"] == []


def test_every_member_that_is_described_has_a_type(app: Flask) -> None:
    schemas = app.test_client().get("/openapi.json").get_json()["components"]["schemas"]
    typed = {"type", "$ref", "allOf", "anyOf", "oneOf", "enum"}
    members = {
        f"{name}.{member}": told for name, one in schemas.items() for member, told in one.get("properties", {}).items()
    }
    assert len(members) > 1000
    assert [name for name, told in members.items() if not typed & told.keys()] == []
    assert members["Properties.value"]["type"] == ["number", "string", "null"]
