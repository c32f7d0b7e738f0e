"""Which ads a body asks for: the filters of GET /top-performers as members of JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.body_fields import Flag, Uuids, Whole
from api.fields import LONGEST_ID, TOKEN
from api.v1.top_performers.schemas import WINDOW
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


def words(choices: tuple[str, ...], description: str) -> fields.List[str]:
    """A list of some of these words."""
    one = fields.String(validate=validate.OneOf(choices, error=f"must be one of {', '.join(choices)}"))
    return fields.List(one, validate=validate.Length(1, len(choices)), metadata={"description": description})


class Filters(Schema):
    """Only ads that pass all that are given."""

    objectives = words(OBJECTIVES, "Only ads whose campaigns are for one of these.")
    truth_grades = words(TRUTH_GRADES, "Only ads of these grades.")
    outcome_kinds = words(OUTCOME_KINDS, "Only ads with one of these as their primary_outcome_kind.")
    formats = fields.List(
        fields.String(validate=validate.Regexp(f"{TOKEN.pattern}\\Z", error="must be 1 to 40 of a-z, 0-9 and _")),
        validate=validate.Length(1, MOST_FORMATS),
        metadata={"description": "Only these creative formats or media types: ugc_video, static, carousel and others."},
    )
    has_video = Flag(
        metadata={"description": "true: only video creatives; false: only others. Without a synced creative: neither."}
    )


class SpendFilters(Filters):
    """The same, and a least spend in the workspace's currency."""

    min_spend = Amount(
        metadata={
            "minimum": 0,
            "exclusiveMaximum": _MOST_SPEND,
            "description": "Only ads that spent at least this in the window, in the workspace's reporting currency.",
        }
    )


class Chosen(Schema):
    """A window, how many ads, and of which profiles."""

    window = fields.String(
        load_default="28d",
        validate=validate.OneOf(SCORE_WINDOWS, error=f"must be one of {', '.join(SCORE_WINDOWS)}"),
        metadata=WINDOW,
    )
    limit = Whole(1, MOST_ROWS, load_default=10, metadata={"description": "Ads at most, the best first."})
    profile_ids = Uuids(
        MOST_PROFILES,
        load_default=None,
        metadata={"description": "Only ads of these profiles; of all that the caller can open when left out."},
    )


class ExportBody(Chosen, Filters):
    """Which ads go into the bundle; `ad_external_ids` names them, and takes the place of `limit`."""

    ad_external_ids = fields.List(
        fields.String(validate=validate.Length(1, LONGEST_ID)),
        load_default=None,
        validate=validate.Length(1, MOST_ROWS),
        metadata={
            "description": "These ads by their platforms' ids, instead of the best; each must have delivered in"
            " the window."
        },
    )
    locale = fields.String(
        load_default="en",
        validate=validate.OneOf(("en", "es"), error="must be en or es"),
        metadata={"description": "Language of README.md and of the briefs; what ads say is not translated."},
    )
