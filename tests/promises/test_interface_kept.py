"""What version 1 has promised stays: what a client sends is taken, and what it reads is there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories.deployments import application, settings_of
from tests.promises.interface import ADVICE, RECORD, broken, kept, lines_of

CAMPAIGNS = "GET /api/v1/campaigns"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = settings_of(tmp_path_factory.mktemp("interface"))
    return application(settings).test_client().get("/openapi.json").get_json()


def test_nothing_that_was_promised_is_taken_back(document: Any) -> None:
    found = broken(kept(), lines_of(document))
    assert found == [], ADVICE.format("\n  ".join(found))


def test_every_promise_is_written_down(document: Any) -> None:
    new = sorted(lines_of(document) - kept())
    assert new == [], f"`python -m tests.promises.interface` adds them to {RECORD.name}"


def _listed(document: Any) -> Any:
    return document["paths"]["/api/v1/campaigns"]["get"]


def _parameter(document: Any, name: str) -> Any:
    return next(one for one in _listed(document)["parameters"] if one.get("name") == name)


def _drop_parameter(document: Any) -> None:
    _listed(document)["parameters"].remove(_parameter(document, "level"))


def _need_scope(document: Any) -> None:
    _listed(document)["x-scope"] = "commerce:read"


def _shut_out(document: Any) -> None:
    _listed(document)["security"].pop()


def _require(document: Any) -> None:
    _parameter(document, "level")["required"] = True


def _drop_choice(document: Any) -> None:
    _parameter(document, "model")["schema"]["enum"].remove("linear")


def _tighten(document: Any) -> None:
    _parameter(document, "limit")["schema"]["maximum"] = 50


def _change_default(document: Any) -> None:
    _parameter(document, "model")["schema"]["default"] = "linear"


def _another_status(document: Any) -> None:
    _listed(document)["responses"]["203"] = _listed(document)["responses"].pop("200")


def _schema(document: Any, name: str) -> Any:
    return document["components"]["schemas"][name]


def _drop_member(document: Any) -> None:
    del _schema(document, "CampaignRow")["properties"]["roas"]


def _may_be_null(document: Any) -> None:
    _schema(document, "CampaignRow")["properties"]["spend"]["type"] = ["number", "null"]


def _may_be_absent(document: Any) -> None:
    _schema(document, "CampaignRow")["required"].remove("spend")


def _require_member(document: Any) -> None:
    _schema(document, "GoalBody")["required"].append("attribution_eligible")


def _bound(document: Any) -> None:
    _schema(document, "GoalBody")["properties"]["attribution_eligible"]["pattern"] = "^y$"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_drop_parameter, f"- {CAMPAIGNS} query level takes string"),
        (_need_scope, f"+ {CAMPAIGNS} needs the scope commerce:read"),
        (_shut_out, f"- {CAMPAIGNS} opens to session"),
        (_require, f"+ {CAMPAIGNS} must be sent level"),
        (_drop_choice, f"- {CAMPAIGNS} query model takes 'linear'"),
        (_tighten, f"+ {CAMPAIGNS} query limit maximum 50"),
        (_change_default, f"- {CAMPAIGNS} query model is by default 'last_touch'"),
        (_another_status, f"- {CAMPAIGNS} answers with 200"),
        (_drop_member, "- CampaignRow.roas answers null or number"),
        (_may_be_null, "- CampaignRow.spend answers number"),
        (_may_be_absent, "- CampaignRow.spend answers number"),
        (_require_member, "+ GoalBody must be sent attribution_eligible"),
        (_bound, "+ GoalBody.attribution_eligible pattern ^y$"),
    ],
)
def test_what_takes_back_is_told(document: Any, change: Callable[[Any], None], told: str) -> None:
    changed = copy.deepcopy(document)
    change(changed)
    assert told in broken(lines_of(document), lines_of(changed))


def _new_operation(document: Any) -> None:
    document["paths"]["/api/v1/novelties"] = {"get": copy.deepcopy(_listed(document))}


def _new_optional(document: Any) -> None:
    new = {"in": "query", "name": "novel", "required": False, "schema": {"type": "string", "maxLength": 3}}
    _listed(document)["parameters"].append(new)


def _loosen(document: Any) -> None:
    _parameter(document, "limit")["schema"] |= {"maximum": 500, "minimum": 0}


def _new_member(document: Any) -> None:
    _schema(document, "CampaignRow")["properties"]["novel"] = {"type": ["string", "null"]}


def _never_null(document: Any) -> None:
    _schema(document, "CampaignRow")["properties"]["roas"]["type"] = "number"


def _let_out(document: Any) -> None:
    _schema(document, "GoalBody")["required"].remove("display_name")


@pytest.mark.parametrize("change", [_new_operation, _new_optional, _loosen, _new_member, _never_null, _let_out])
def test_what_only_adds_is_taken(document: Any, change: Callable[[Any], None]) -> None:
    changed = copy.deepcopy(document)
    change(changed)
    assert lines_of(changed) != lines_of(document)
    assert broken(lines_of(document), lines_of(changed)) == []
