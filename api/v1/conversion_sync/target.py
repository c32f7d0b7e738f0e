"""POST /conversion-sync/platform-safe/target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import request
from marshmallow import Schema, fields, validate
from sqlalchemy.orm import Session

from api import audit, auth, connections, context, db, errors, idempotency, under_way, writebacks
from api.audit import Attempt
from api.auth import Kind
from api.bodies import Text
from api.body_fields import Flag, Uuid
from api.exports import consent, targets
from api.guard import guarded
from api.http import Blueprint
from api.models import Connection, Profile, Writeback
from api.roles import Role
from api.scopes import Scope
from api.writing import actor, idempotent, session
from connectors.meta_datasets import MetaDatasets

bp = Blueprint("platform_safe_target", __name__, description="Which dataset is fed in Platform-Safe mode.")

SECONDS = 25.0
_TARGET = "clean: a dataset that knows nothing of before; existing: the one that the account always had."
_DATASET = "Whose events it takes: those of the website, of the chat app, or of the social account's messages."


class ConsentBody(Schema):
    """That a person accepted the current text."""

    version = Text(
        16,
        required=True,
        metadata={"description": "Version of the text, as GET /conversion-sync/platform-safe/consent tells it."},
    )
    text_hash = Text(64, required=True, metadata={"description": "Its hash in the language that was read."})
    accepted_by = Text(120, required=True, metadata={"description": "Name of the person who accepted it."})
    accepted_at = fields.AwareDateTime(required=True, metadata={"description": "Within the last 24 hours."})


class TargetBody(Schema):
    """Which dataset to feed, and how."""

    target = fields.String(required=True, validate=validate.OneOf(targets.TARGETS), metadata={"description": _TARGET})
    dataset = fields.String(
        load_default="website", validate=validate.OneOf(targets.DATASETS), metadata={"description": _DATASET}
    )
    connection_id = Uuid(
        load_default=None,
        metadata={
            "description": "The account that has it; when left out the one that a destination uses, or the only one."
        },
    )
    confirm_live_ad_sets = Flag(
        load_default=False,
        metadata={
            "description": "true: go back to the existing one though ad sets deliver on the clean one, or none"
            " can tell."
        },
    )
    duplicate_and_swap = Flag(
        load_default=False,
        metadata={
            "description": "true: copy the live ad sets onto the clean one; answered 501 here, where nothing is copied."
        },
    )
    consent = fields.Nested(
        ConsentBody,
        load_default=None,
        metadata={
            "description": "That a person accepted the copying; with duplicate_and_swap it is needed from all"
            " but sessions."
        },
    )


class Swapped(Schema):
    ad_set_external_id = fields.String(
        required=True, metadata={"description": "The ad set that was copied, by its platform's id."}
    )
    new_ad_set_external_id = fields.String(required=True, metadata={"description": "Its copy, by its platform's id."})


class TargetAnswer(Schema):
    """Which dataset is fed now."""

    target = fields.String(required=True, metadata={"enum": list(targets.TARGETS), "description": _TARGET})
    dataset = fields.String(required=True, metadata={"enum": list(targets.DATASETS), "description": _DATASET})
    dataset_external_id = fields.String(
        required=True, metadata={"description": "The dataset that is fed now, by its platform's id."}
    )
    previous_target = fields.String(
        required=True, metadata={"enum": list(targets.TARGETS), "description": "Which one was fed before."}
    )
    changed = fields.Boolean(required=True, metadata={"description": "Whether another one is fed than before."})
    live_ad_sets = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Ad sets that deliver on the dataset that is left; null where that cannot be read."},
    )
    swapped = fields.List(
        fields.Nested(Swapped), required=True, metadata={"description": "Always empty: no ad sets are copied here."}
    )


@bp.route("/conversion-sync/platform-safe/target", methods=["POST"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR)
@bp.arguments(TargetBody)
@idempotent()
@bp.response(200, TargetAnswer)
def choose_dataset(body: dict[str, Any]) -> dict[str, Any]:
    """Feed the clean dataset, or the existing one again

    The clean one is made at the platform when it is first chosen, and takes a slot there; destinations that fed the
    other are turned to it. Going back is refused while ad sets deliver on the clean one, unless that is confirmed.
    """
    settings, to, dataset = context.settings(), body["target"], body["dataset"]
    with db.transaction(settings.operational_url, durable=False) as reading:
        profile = reading.get_one(Profile, auth.current().profile.id)
        _refuse(profile, body)
        connection = targets.connection_for(reading, profile, dataset, body["connection_id"])
        before = targets.standing(reading, profile.id, dataset, connection)
    connections.usable(settings, [connection])
    about = {"target": audit.target("profile", profile.id, profile.name), "before": {"target": before.target}}
    wanted = {**about, "after": {"target": to, "dataset": dataset}}
    # kept whatever becomes of the question
    with db.transaction(settings.operational_url) as unit:
        kept = _begun(unit, connection, {"target": to, "dataset": dataset})
        audit.record(unit, actor(), Attempt("dataset_target.asked", wanted, category="privacy"))
    try:
        answer = _asked(connection, profile, body, before)
    except errors.ApiError as refusal:
        with db.transaction(settings.operational_url) as unit:
            _ended(unit, kept, refusal.code.code)
        raise
    _ended(session(), kept, "done")
    turned = targets.put(session(), profile.id, dataset, connection, to, answer)
    changed = before.target != to
    fed = answer.clean_id if to == "clean" else answer.existing_id
    told = {**about, "after": {"target": to, "dataset": dataset, "dataset_id": fed, "destinations_turned": turned}}
    outcome = "done" if changed else "no_change"
    audit.record(session(), actor(), Attempt("dataset_target.changed", told, category="privacy"), outcome=outcome)
    return {
        "target": to,
        "dataset": dataset,
        "dataset_external_id": fed,
        "previous_target": before.target,
        "changed": changed,
        "live_ad_sets": answer.live_ad_sets,
        "swapped": [],
    }


def _refuse(profile: Profile, body: Mapping[str, Any]) -> None:
    if body["target"] == "clean" and profile.privacy_mode != "platform_safe":
        raise errors.PLATFORM_SAFE_REQUIRED()
    if not body["duplicate_and_swap"] or body["target"] != "clean":
        return
    if auth.current().kind is not Kind.SESSION and not consent.is_given(body["consent"], db.now()):
        raise errors.CONSENT_REQUIRED(consent=consent.current())
    raise errors.NOT_IMPLEMENTED("Ad sets are not copied here: copy them at the platform, then switch the dataset.")


def _begun(unit: Session, connection: Connection, wanted: Mapping[str, str]) -> Writeback | None:
    account = {"kind": "account", "platform_id": connection.external_account_id, "name": connection.display_name}
    return writebacks.begin(
        unit,
        by=auth.current(),
        operation="dataset_target.change",
        target=account,
        request=wanted,
        dry_run=False,
        request_id=context.request_id() or "",
        idempotency_key=idempotency.read_key(request.headers.get("Idempotency-Key")),
    )


def _ended(unit: Session, kept: Writeback | None, how: str) -> None:
    if kept is not None:
        outcome, code = writebacks.ended_as(how, dry_run=False)
        writebacks.settle(unit, kept, outcome=outcome, error_code=code)


def _asked(
    connection: Connection, profile: Profile, body: Mapping[str, Any], before: targets.Standing
) -> targets.Answer:
    settings, to = context.settings(), body["target"]
    with (
        # of two that find no clean dataset each would make one
        under_way.alone(settings.operational_url, f"datasets:{connection.id}"),
        connections.asking(settings, connection, within=SECONDS, writes=True) as transport,
    ):
        account, secret = connection.external_account_id, connections.app_secret(settings, connection)
        platform = MetaDatasets(connection.base_url, connection.token, account, transport, app_secret=secret)
        answer = targets.ask(platform, profile.name, body["dataset"], before, to)
    starves = to == "existing" and before.target == "clean" and answer.live_ad_sets != 0
    if starves and not body["confirm_live_ad_sets"]:
        attempt = Attempt(
            "dataset_target.changed", {"after": {"live_ad_sets": answer.live_ad_sets}}, category="privacy"
        )
        raise errors.CLEAN_DATASET_HAS_LIVE_AD_SETS(_why_not(answer.live_ad_sets)).audited(attempt)
    return answer


def _why_not(live: int | None) -> str:
    if live is None:
        return "Whether ad sets still deliver on the clean dataset could not be read."
    return f"Live ad sets still optimise on the clean dataset: {live}."
