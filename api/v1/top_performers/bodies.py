"""Which ads a body asks for: the filters of GET /top-performers as members of JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.body_fields import Flag, Uuids, Whole
from api.fields import LONGEST_ID, TOKEN
from api.v1.top_performers.terms import (
    MOST_FORMATS,
    MOST_PROFILES,
    MOST_ROWS,
    OBJECTIVES,
    OUTCOME_KINDS,
    SCORE_WINDOWS,
    TRUTH_GRADES,
)

# as many digits as the query takes
_MOST_SPEND = 10**15


class Amount(fields.Float):
    """A JSON number from 0 to below a quadrillion, with up to 6 decimals; loads to a Decimal."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValidationError("must be a number")
        exact = Decimal(str(value))
        if not 0 <= exact < _MOST_SPEND or round(exact, 6) != exact:
            raise ValidationError("must be from 0 to below a quadrillion, with up to 6 decimals")
        return exact


def words(choices: tuple[str, ...]) -> fields.List[str]:
    """A list of some of these words."""
    one = fields.String(validate=validate.OneOf(choices, error=f"must be one of {', '.join(choices)}"))
    return fields.List(one, validate=validate.Length(1, len(choices)))


class Filters(Schema):
    """Only ads that pass all that are given."""

    objectives = words(OBJECTIVES)
    truth_grades = words(TRUTH_GRADES)
    outcome_kinds = words(OUTCOME_KINDS)
    formats = fields.List(
        fields.String(validate=validate.Regexp(f"{TOKEN.pattern}\\Z", error="must be 1 to 40 of a-z, 0-9 and _")),
        validate=validate.Length(1, MOST_FORMATS),
    )
    has_video = Flag()


class SpendFilters(Filters):
    """The same, and a least spend in the workspace's currency."""

    min_spend = Amount(metadata={"minimum": 0, "exclusiveMaximum": _MOST_SPEND})


class Chosen(Schema):
    """A window, how many ads, and of which profiles."""

    window = fields.String(
        load_default="28d",
        validate=validate.OneOf(SCORE_WINDOWS, error=f"must be one of {', '.join(SCORE_WINDOWS)}"),
    )
    limit = Whole(1, MOST_ROWS, load_default=10)
    profile_ids = Uuids(MOST_PROFILES, load_default=None)


class ExportBody(Chosen, Filters):
    """Which ads go into the bundle; `ad_external_ids` names them, and takes the place of `limit`."""

    ad_external_ids = fields.List(
        fields.String(validate=validate.Length(1, LONGEST_ID)),
        load_default=None,
        validate=validate.Length(1, MOST_ROWS),
    )
    locale = fields.String(load_default="en", validate=validate.OneOf(("en", "es"), error="must be en or es"))
