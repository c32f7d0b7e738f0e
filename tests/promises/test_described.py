"""The OpenAPI document says of what is sent and answered all that can be said: members, choices and limits."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from api.terms import TERMS
from tests.factories.deployments import application, settings_of


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = settings_of(tmp_path_factory.mktemp("described"))
    return application(settings).test_client().get("/openapi.json").get_json()


def test_only_what_has_no_shape_of_its_own_is_described_without_members(document: Any) -> None:
    # a client that is made from the document has no type for such an object
    schemas = document["components"]["schemas"]
    bare: set[str] = set()

    def look(name: str, told: dict[str, Any]) -> None:
        kinds = told.get("type", ())
        if "object" in ([kinds] if isinstance(kinds, str) else kinds):
            is_named = "properties" in told or told.get("additionalProperties")
            bare.update(set() if is_named else {name})
        for member, inner in told.get("properties", {}).items():
            look(f"{name}.{member}", inner)
        if "items" in told:
            look(name, told["items"])

    for name, told in schemas.items():
        look(name, told)
    # what was changed may be any setting, what an agent asked for any figure; a template's parts are the platform's
    assert bare == {"AuditRow.before", "AuditRow.after", "WritebackRow.request"} | {
        *("SyncedTemplate.components", "Template.components"),
    }


def test_every_member_of_a_body_and_of_an_answer_says_what_it_is(document: Any) -> None:
    silent = [
        f"{name}.{member}"
        for name, schema in document["components"]["schemas"].items()
        for member, told in schema.get("properties", {}).items()
        if not {"description", "$ref"} & told.keys()
    ]
    assert silent == []


def test_what_may_be_null_in_an_answer_says_when(document: Any) -> None:
    schemas = document["components"]["schemas"]

    def used(part: Any) -> set[str]:
        return set(re.findall(r"#/components/schemas/([\w-]+)", json.dumps(part)))

    told = used([one["responses"] for of in document["paths"].values() for one in of.values()])
    while more := used([schemas[name] for name in told]) - told:
        told |= more
    silent = [
        f"{name}.{member}"
        for name in sorted(told)
        for member, one in schemas[name].get("properties", {}).items()
        if may_be_null(one) and not re.search(r"\bnull\b", one.get("description", ""), re.IGNORECASE)
    ]
    assert silent == []
    # a general word for the name had it null where it never is
    wrong = [
        f"{name}.{member}"
        for name in sorted(told)
        for member, one in schemas[name].get("properties", {}).items()
        if not may_be_null(one) and "; null" in one.get("description", "")
    ]
    assert wrong == []


def may_be_null(member: dict[str, Any]) -> bool:
    """Whether one of the forms that a member may have is null."""
    forms = [member, *member.get("anyOf", ()), *member.get("oneOf", ())]
    return any("null" in ([kind] if isinstance(kind := one.get("type", ()), str) else kind) for one in forms)


def test_every_term_is_what_some_member_says(document: Any) -> None:
    schemas = document["components"]["schemas"].values()
    said = {(name, one.get("description")) for schema in schemas for name, one in schema.get("properties", {}).items()}
    assert [name for name, meaning in TERMS.items() if (name, meaning) not in said] == []


def test_every_answer_says_of_its_freshness_that_it_is_news_that_came_and_not_a_look(document: Any) -> None:
    told = [schema["properties"] for schema in document["components"]["schemas"].values() if "properties" in schema]
    of = {one["data_as_of"]["description"] for one in told if "data_as_of" in one}
    # a source that is read every day and has nothing new stays where it was
    assert len(of) == 1
    assert "anything new" in of.pop()


def test_every_figure_of_complete_delivery_says_that_ended_accounts_do_not_hold_it(document: Any) -> None:
    # else the day is one that an account of last year has not delivered
    members = [
        (name, schema["properties"]["delivery_through"]["description"])
        for name, schema in document["components"]["schemas"].items()
        # of one connection it is its own
        if "description" in schema.get("properties", {}).get("delivery_through", {}) and not name.startswith("Sync")
    ]
    assert [name for name, told in members if "ended" not in told] == []
    assert len(members) > 10


def test_every_reason_that_is_told_says_what_it_may_be(document: Any) -> None:
    for name, schema in document["components"]["schemas"].items():
        for member, told in schema.get("properties", {}).items():
            if member.endswith("reason"):
                assert told.get("enum") or told.get("description"), f"{name}.{member}"


def test_openapi_states_the_choices_and_limits_that_requests_are_held_to(document: Any) -> None:
    schemas, paths = document["components"]["schemas"], document["paths"]
    # a client that keeps to the document was refused
    for named in ("Selector", "ListedCustomer"):
        assert (schemas[named]["minProperties"], schemas[named]["maxProperties"]) == (1, 1)
    form = paths["/api/v1/imports"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert {"touches", "ad_delivery"} < set(form["properties"]["dataset"]["enum"])
    assert "fx_rates" not in form["properties"]["dataset"]["enum"]
    feature = parameter(paths["/api/v1/profiles/{profile_id}/entitlements/{feature}"]["put"], "feature")
    assert feature["enum"] == ["atribu_attribution", "partner_audiences"]
    assert schemas["ProfileChanges"]["properties"]["monthly_budget"]["maximum"] == 10**12
    # a link whose macro was sent as it stands is unknown_ad there, and has a word of its own where it is mended
    reason = schemas["ReasonRow"]["properties"]["reason"]
    assert [word for word in reason["enum"] if f"{word}:" not in reason["description"]] == []
    assert "GET /quality/ad-ids" in reason["description"]
    # of a platform's result it is no time of a computation, which no platform tells
    assert "last changed" in schemas["ExperimentResult"]["properties"]["computed_at"]["description"]
    # without its account, of which the currency is, a budget is set and no amount
    assert "account" in schemas["CampaignRow"]["properties"]["daily_budget"]["description"]
    # a window has its last day as soon as ads delivered in it, whether or not any of them has a score
    assert "delivered" in schemas["TopPerformersMeta"]["properties"]["score_date"]["description"]
    assert "own goals" in schemas["AdScore"]["properties"]["attributed_pipeline_outcomes"]["description"]
    # platforms date replies and conversations apart, so a week may have more of the one than of the other
    assert "0 to 1" not in schemas["AdScore"]["properties"]["first_reply_rate"]["description"]
    assert schemas["SpendFilters"]["properties"]["min_spend"]["exclusiveMaximum"] == 10**15
    search = parameter(paths["/api/v1/customers"]["get"], "search")
    assert (search["minLength"], search["maxLength"]) == (1, 254)
    key = parameter(paths["/api/v1/customers/journey"]["get"], "customer_key")["pattern"]
    fits = [re.search(key, one) is not None for one in (f"ck_{'a' * 43}", "ext:7", f"ext:{'x' * 129}", "ck_a", "")]
    assert fits == [True, True, False, False, False]
    for body, member in (("BrandingBody", "website_url"), ("VerificationBody", "url")):
        assert schemas[body]["properties"][member]["pattern"] == "^[Hh][Tt][Tt][Pp][Ss]://"


def test_openapi_says_that_settings_are_always_told_whole(document: Any) -> None:
    told = document["components"]["schemas"]
    assert set(told["SettingsAnswer"]["required"]) == set(told["SettingsAnswer"]["properties"])
    assert "required" not in told["SettingsBody"]


def parameter(operation: Any, name: str) -> Any:
    """The schema of one parameter."""
    return next(one["schema"] for one in operation["parameters"] if one["name"] == name)
