"""The members of a refusal's body, for the OpenAPI document; `api/http.py` writes it."""

from __future__ import annotations

import marshmallow as ma
from marshmallow import fields

from api.plans import PLANS


class Upgrade(ma.Schema):
    plan = fields.String(
        required=True,
        metadata={"enum": list(PLANS), "description": "The smallest plan with room for one more active profile."},
    )


class InLanguages(ma.Schema):
    en = fields.String(required=True, metadata={"description": "The English text, or its hash."})
    es = fields.String(required=True, metadata={"description": "The Spanish text, or its hash."})


class ConsentNeeded(ma.Schema):
    """The current text that a person accepts, told by its version and a hash for each language."""

    version = fields.String(
        required=True, metadata={"description": "Version of the current text; whoever accepts it sends it back."}
    )
    text_hashes = fields.Nested(InLanguages, required=True)


class ErrorBody(ma.Schema):
    """The `error` member of every refusal."""

    code = fields.String(required=True, metadata={"description": "Branch on this."})
    message = fields.String(required=True, metadata={"description": "For people; may change."})
    status = fields.Integer(required=True, metadata={"description": "The HTTP status."})
    request_id = fields.String(required=True, metadata={"pattern": "^req_[0-9a-f]{32}$"})
    docs_url = fields.String(required=True, metadata={"format": "uri", "description": "The code's entry on a page."})
    reason = fields.String(metadata={"description": "Stable refinement inside a shared code."})
    required_scopes = fields.List(fields.String(), metadata={"description": "On insufficient_scope."})
    upgrade_required = fields.Boolean(metadata={"description": "On profile_limit_reached."})
    upgrade = fields.Nested(Upgrade, metadata={"description": "On profile_limit_reached: the next plan that fits."})
    reconnect_required = fields.Boolean(metadata={"description": "On connection_revoked and auth_revoked."})
    reconnect_url = fields.String(metadata={"description": "Where to connect again."})
    provider_code = fields.String(metadata={"description": "On provider_error, where the provider gave one."})
    provider_message = fields.String(metadata={"description": "On provider_error, where the provider gave one."})
    retry_after_seconds = fields.Integer(metadata={"description": "On insights_enabling."})
    consent = fields.Nested(
        ConsentNeeded, metadata={"description": "On consent_required: the current version and its text hashes."}
    )
    conflicting_destination_id = fields.String(metadata={"description": "On destination_conflict."})


class ErrorEnvelope(ma.Schema):
    """Every refusal: `{"error": {...}}`."""

    error = fields.Nested(ErrorBody, required=True)
