"""What a creative analysis looks like."""

from __future__ import annotations

from collections.abc import Iterable

from marshmallow import Schema, fields

from api.bodies import Nothing
from api.creative_analysis.catalogue import CREATIVE_FORMATS, CTA_TYPES, HOOK_TYPES, LANGUAGES, OFFERS, PRIMARY_ANGLES

STATUSES = ("queued", "running", "succeeded", "failed")


class AnalysisBody(Nothing):
    """Nothing can be chosen: all that the ad shows is read."""


def _word(words: Iterable[str], about: str) -> fields.String:
    told = {"enum": [*words, None], "description": f"{about}; null where the creative does not tell."}
    return fields.String(required=True, allow_none=True, metadata=told)


class Result(Schema):
    """Words of the catalogue; null where the creative does not tell."""

    hook_type = _word(HOOK_TYPES, "How it opens")
    creative_format = _word(CREATIVE_FORMATS, "What kind of picture or video it is")
    cta_type = _word(CTA_TYPES, "What its call to action asks for")
    primary_angle = _word(PRIMARY_ANGLES, "What it argues by")
    offers = fields.List(fields.String(metadata={"enum": list(OFFERS)}), required=True)
    language = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": [*LANGUAGES, None], "description": "Language of its texts; null where they do not tell."},
    )
    confidence = fields.Float(required=True, metadata={"description": "0 to 1, by the analyser's own account."})
    analyzer = fields.String(required=True, metadata={"description": "Who read it, with a version."})


class Analysis(Schema):
    job_id = fields.String(
        required=True, metadata={"format": "uuid", "description": "Ask GET /creative-analyses/{job_id} how it stands."}
    )
    ad_id = fields.String(required=True, metadata={"format": "uuid"})
    ad_external_id = fields.String(required=True)
    status = fields.String(
        required=True, metadata={"enum": list(STATUSES), "description": "succeeded and failed are final."}
    )
    reused = fields.Boolean(
        required=True, metadata={"description": "Whether the job was there before this call, which then costs nothing."}
    )
    creative_hash = fields.String(required=True, metadata={"description": "Names the state of the creative."})
    requested_at = fields.DateTime(required=True)
    finished_at = fields.DateTime(required=True, allow_none=True)
    failure_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Of a failed one: analyser_failed, timed_out, or why its service did not answer, as"
            " a slug. Else null."
        },
    )
    result = fields.Nested(
        Result, required=True, allow_none=True, metadata={"description": "What was found; null until it has succeeded."}
    )
