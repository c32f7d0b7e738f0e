"""What GET W/experiments accepts and answers, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, post_load

from api.fields import Choice, UuidList
from api.op_lists import ListQuery

KINDS = ("lift", "split")
STATUSES = ("planned", "running", "finished", "canceled")
ROLES = ("treatment", "control", "cell")
MOST_PROFILES = 200

_OR_NULL: dict[str, Any] = {"required": True, "allow_none": True}


class ExperimentsQuery(ListQuery):
    kind = Choice(KINDS, load_default=None, metadata={"description": "Only studies of this kind."})
    status = Choice((*STATUSES, "all"), load_default="all", metadata={"description": "Only those that stand there."})
    profile_ids = UuidList(
        MOST_PROFILES, load_default=None, metadata={"description": "Only these profiles, comma-separated."}
    )

    @post_load
    def _all_is_none(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**data, "status": None if data["status"] == "all" else data["status"]}


class ExperimentArm(Schema):
    """One arm of a study."""

    arm_id = fields.String(required=True, metadata={"description": "The platform's id."})
    name = fields.String(
        required=True, metadata={"description": "The arm's name at its platform; of a lift also which side it is."}
    )
    role = fields.String(
        required=True,
        metadata={
            "enum": list(ROLES),
            "description": "treatment and control are the two sides of a lift, cell is an arm of a split.",
        },
    )
    entity_level = fields.String(
        **_OR_NULL,
        metadata={
            "enum": ["campaign", "ad_set", "ad", None],
            "description": "Level of `entity_external_ids`; null where the platform does not tell.",
        },
    )
    entity_external_ids = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The platform's ids of what the arm shows; empty where it does not tell."},
    )
    population = fields.Integer(
        **_OR_NULL, metadata={"description": "People in it, as the platform counts them; null where it does not tell."}
    )
    conversions = fields.Integer(
        **_OR_NULL, metadata={"description": "As the platform counts them; null where it does not tell."}
    )
    attributed_outcomes = fields.Integer(
        **_OR_NULL,
        metadata={
            "description": "Leads, conversations or payments that last_touch credits to its entities; null for the "
            "control arm of a lift, for an arm none of whose entities is known, where the study's campaigns aim at "
            "different kinds, and where arms of a split share an entity."
        },
    )
    spend = fields.Float(
        **_OR_NULL,
        metadata={
            "description": "In `currency`; null where the platform does not tell, or no rate of the first day is known."
        },
    )


class ExperimentResult(Schema):
    """What a study says, by us or by the platform."""

    lift = fields.Float(
        **_OR_NULL,
        metadata={
            "description": "Rate of the one side over that of the other, less 1; null where the platform tells none."
        },
    )
    ci_low = fields.Float(
        **_OR_NULL,
        metadata={"description": "Lower end of its interval, ours of 95 %; null where the platform tells none."},
    )
    ci_high = fields.Float(**_OR_NULL, metadata={"description": "Upper end of the same interval; null as `ci_low` is."})
    conclusive = fields.Boolean(
        required=True,
        metadata={
            "description": "Whether the interval excludes 0; of a platform that gives none, whether it names a winner."
        },
    )
    winner_arm_id = fields.String(
        **_OR_NULL, metadata={"description": "`arm_id` of the arm that won; null where none did."}
    )
    computed_at = fields.DateTime(
        **_OR_NULL,
        metadata={
            "description": "Of ours, when the snapshot was built. Of the platform's, when it last changed the study: "
            "it does not tell when it computed its result, which may be newer. Null where it tells neither."
        },
    )


class Experiment(Schema):
    """One study; money in the profile's reporting currency."""

    is_paged = True

    experiment_id = fields.UUID(required=True, metadata={"description": "The study, by our id."})
    profile_id = fields.UUID(required=True)
    currency = fields.String(required=True)
    platform = fields.String(required=True)
    platform_study_id = fields.String(required=True, metadata={"description": "The study, by its platform's id."})
    name = fields.String(required=True, metadata={"description": "The study's name at its platform."})
    kind = fields.String(
        required=True,
        metadata={"enum": list(KINDS), "description": "lift compares with people who saw no ad, split compares ads."},
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "As the platform says, else by the study's days as of the newest full day of delivery.",
        },
    )
    start_date = fields.Date(required=True, metadata={"description": "First day of the study."})
    end_date = fields.Date(**_OR_NULL, metadata={"description": "Last day of the study; null while it is open."})
    arms = fields.List(
        fields.Nested(ExperimentArm), required=True, metadata={"description": "In the order of their ids."}
    )
    service_result = fields.Nested(
        ExperimentResult,
        **_OR_NULL,
        metadata={"description": "What our own counts say; null without counts of one kind on both sides."},
    )
    platform_result = fields.Nested(
        ExperimentResult,
        **_OR_NULL,
        metadata={"description": "What the platform says; null where it tells neither a lift nor a winner."},
    )
