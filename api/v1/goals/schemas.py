"""What the goal routes accept and what they answer, field by field."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.bodies import Text
from api.body_fields import Flag
from api.goals import NO_GOAL, REFUND
from api.served import REVENUE_TYPES

MOST_NAMES = 50
_ELIGIBLE = "false: its events are kept and are no outcomes."
_REVENUE = "cash: payments; pipeline: projected value; gross: value that is neither."
_KEY = re.compile("[a-z][a-z0-9_]{1,39}")
_NAME = re.compile("[A-Za-z0-9_]{1,64}")
# names of types that are no goals
_RESERVED = frozenset({REFUND, NO_GOAL})


def _is_key(text: str) -> None:
    if not _KEY.fullmatch(text):
        raise ValidationError("must be 2 to 40 lower-case letters, digits and underscores, beginning with a letter")
    if text in _RESERVED:
        raise ValidationError("is a word of its own")


def _is_name(text: str) -> None:
    if not _NAME.fullmatch(text):
        raise ValidationError("must be 1 to 64 letters, digits and underscores")
    if text in _RESERVED:
        raise ValidationError(f"{text} is no event of a goal")


class EventNames(fields.List[str]):
    """One to fifty names of events; loads each once, in the order sent."""

    def __init__(self, **kwargs: Any) -> None:
        named = fields.String(validate=_is_name, metadata={"pattern": f"^{_NAME.pattern}$"})
        held = validate.Length(1, MOST_NAMES, error=f"must hold 1 to {MOST_NAMES} names")
        described = {"description": "Events of these names count; each name belongs to one goal."}
        super().__init__(named, validate=held, metadata=described, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return list(dict.fromkeys(super()._deserialize(value, attr, data, **kwargs)))


def _revenue_type(**kwargs: Any) -> fields.String:
    one_of = validate.OneOf(REVENUE_TYPES, error=f"must be one of {', '.join(REVENUE_TYPES)}")
    return fields.String(validate=one_of, metadata={"description": _REVENUE}, **kwargs)


class GoalBody(Schema):
    display_name = Text(80, required=True, metadata={"description": "What people call it."})
    conversion_key = fields.String(
        required=True,
        validate=_is_key,
        metadata={"pattern": f"^{_KEY.pattern}$", "description": "The type its conversions are told under, for ever."},
    )
    source_event_names = EventNames(required=True)
    revenue_type = _revenue_type(required=True)
    attribution_eligible = Flag(load_default=True, metadata={"description": _ELIGIBLE})


class GoalChanges(Schema):
    """What to change; a member left out keeps its value. Of built-in goals only names can be changed."""

    display_name = Text(80, metadata={"description": "What people call it."})
    source_event_names = EventNames()
    revenue_type = _revenue_type()
    attribution_eligible = Flag(metadata={"description": _ELIGIBLE})


class GoalShape(Schema):
    is_paged = True

    goal_id = fields.UUID(required=True)
    display_name = fields.String(required=True, metadata={"description": "What people call it."})
    conversion_key = fields.String(
        required=True, metadata={"description": "The type that its conversions are told under."}
    )
    source_event_names = fields.List(
        fields.String(), required=True, metadata={"description": "Events of these names are its conversions."}
    )
    revenue_type = fields.String(required=True, metadata={"enum": list(REVENUE_TYPES), "description": _REVENUE})
    attribution_eligible = fields.Boolean(required=True, metadata={"description": _ELIGIBLE})
    built_in = fields.Boolean(required=True, metadata={"description": "Every profile has it, and keeps it."})


class GoalDeleted(Schema):
    goal_id = fields.UUID(required=True)
    deleted = fields.Boolean(required=True, metadata={"description": "Always true."})
