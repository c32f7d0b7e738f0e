"""A plan reads what marshmallow reads, and refuses what it refuses."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import marshmallow as ma
import pytest
from marshmallow.validate import OneOf
from webargs.multidictproxy import MultiDictProxy
from werkzeug.datastructures import MultiDict

from api.http import Application
from api.query_plans import plan_of

ID = "0190b6ab-7e1c-7000-8000-0123456789ab"
VALUES = ("", "0", "7", "100", "12.50", "x", "a,b", "true", "2026-05-01", "2026-06-30", "2026-02-30", ID, f"{ID},{ID}")


def schemas(app: Application) -> dict[str, type[ma.Schema]]:
    """Those that any view reads its query with."""
    found = {}
    for view in app.view_functions.values():
        for one in (
            getattr(view, "view_class", view).__dict__.get("_apidoc", {}).get("arguments", {}).get("parameters", [])
        ):
            if one["in"] == "query":
                found[one["schema"].__name__] = one["schema"]
    return found


def loaded(kind: type[ma.Schema], args: MultiDict[str, str]) -> Any:
    schema = kind()
    return refused(lambda: schema.load(MultiDictProxy(args, schema), unknown=ma.EXCLUDE))


def refused(read: Any) -> Any:
    """What it gives, or that it is refused; a mapping with the order of its members."""
    try:
        found = read()
    except ma.ValidationError:
        return "refused"
    return list(found.items()) if isinstance(found, Mapping) else found


def test_every_query_is_read_as_marshmallow_does(assembled: Application) -> None:
    kinds = schemas(assembled)
    assert len(kinds) > 30
    draw, accepted, left = random.Random(7), set(), list[str]()
    for name, kind in kinds.items():
        plan = plan_of(kind)
        if plan is None:
            left.append(name)
            continue
        fields = {field.data_key or name: field for name, field in kind().fields.items()}
        for _ in range(150):
            args: MultiDict[str, str] = MultiDict({"else": "1"})
            for key, field in fields.items():
                choices = [c for v in field.validators if isinstance(v, OneOf) for c in v.choices]
                if field.required or draw.random() < 0.4:
                    args.add(key, str(draw.choice([*VALUES, *choices * 4])))
            expected = loaded(kind, args)
            assert refused(lambda args=args, plan=plan: plan.read(args)) == expected, (name, args)
            if expected != "refused":
                accepted.add(name)
    assert left == []
    assert len(accepted) > 0.9 * len(kinds)


class Plain(ma.Schema):
    a = ma.fields.String()


class Many(Plain):
    b = ma.fields.List(ma.fields.String())


class Nested(Plain):
    b = ma.fields.String(attribute="within.b")


class Before(Plain):
    @ma.pre_load
    def _before(self, data: Any, **_: Any) -> Any:
        return data


class OfField(Plain):
    @ma.validates("a")
    def _a(self, value: str, data_key: str) -> None:
        raise ma.ValidationError("never")


class OfOriginal(Plain):
    @ma.post_load(pass_original=True)
    def _after(self, data: Any, original: Any, **_: Any) -> Any:
        return original


class Own(Plain):
    def load(self, *args: Any, **more: Any) -> Any:
        return None


@pytest.mark.parametrize("kind", [Many, Nested, Before, OfField, OfOriginal, Own])
def test_what_no_plan_knows_is_left_to_marshmallow(kind: type[ma.Schema]) -> None:
    assert plan_of(Plain) is not None
    assert plan_of(kind) is None
