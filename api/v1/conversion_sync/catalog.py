"""PUT /conversion-sync/catalog: the privacy mode, and which conversion types leave under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from api import agreements, auth, errors
from api.audit import Attempt, record, target
from api.auth import Kind
from api.db import now
from api.exports import catalog, destinations
from api.guard import guarded
from api.http import Blueprint
from api.models import ApiKey, Profile, Workspace
from api.roles import Role
from api.scopes import Scope
from api.v1.conversion_sync.catalog_schemas import CatalogAnswer, CatalogBody
from api.writing import actor, idempotent, session

bp = Blueprint("conversion_catalog", __name__, description="What may leave a profile.")


@bp.route("/conversion-sync/catalog", methods=["PUT"])
@guarded(scope=Scope.EXPORTS_WRITE, role=Role.EDITOR, needs_entitlement=False)
@bp.arguments(CatalogBody)
@idempotent()
@bp.response(200, CatalogAnswer)
def set_catalog(body: dict[str, Any]) -> dict[str, Any]:
    """Set the privacy mode

    In `platform_safe` and `hipaa`, and in a healthcare agency, the types are an allow-list: at first payments and
    leads, without value. A looser mode than before is for an owner or admin who is signed in; `hipaa` needs the signed
    agreement. What waits to be sent is judged anew under the new rules.
    """
    profile = session().get_one(Profile, auth.current().profile.id, with_for_update={"key_share": True})
    workspace = session().get_one(Workspace, profile.workspace_id)
    before, after = profile.privacy_mode, body["privacy_mode"]
    attempt = Attempt("privacy_mode.changed", _details(profile, before, after), category="privacy")
    _refuse(profile, before, after, attempt)
    withheld_before = _withheld(workspace, profile)
    rules_before = catalog.rules(session(), profile)
    profile.privacy_mode = after
    if body["conversion_types"] is not None:
        catalog.put(session(), profile, catalog.family_of(workspace, profile), body["conversion_types"])
    rules = catalog.rules(session(), profile)
    emptied = destinations.switch_off_emptied(session(), profile.id, rules)
    by = actor()
    record(session(), by, attempt)
    changed_rules = {
        "target": target("profile", profile.id, profile.name),
        "before": {"conversion_types": _shown(rules_before)},
        "after": {"conversion_types": _shown(rules), "destinations_disabled": emptied},
    }
    outcome = "done" if rules != rules_before or emptied else "no_change"
    record(session(), by, Attempt("conversion_catalog.changed", changed_rules), outcome=outcome)
    return {
        "privacy_mode": after,
        "previous_privacy_mode": before,
        "changed": before != after or rules != rules_before,
        "conversion_types": [asdict(rule) for rule in rules.values()],
        "effects": {
            "destinations_disabled": emptied,
            "audiences_stopped": 0,
            "partner_scopes_withheld": max(0, _withheld(workspace, profile) - withheld_before),
        },
    }


def _refuse(profile: Profile, before: str, after: str, attempt: Attempt) -> None:
    caller = auth.current()
    is_looser = catalog.loosens(before, after)
    if before == after or is_looser:
        # tightening is open to profiles without attribution; nothing else here is
        auth.require_entitlement(caller)
    may_loosen = caller.kind is Kind.SESSION and (caller.reach.role or Role.GUEST) >= Role.ADMIN
    if is_looser and not may_loosen:
        words = "Only an owner or admin who is signed in loosens the privacy mode."
        raise errors.FORBIDDEN(words, reason="privacy_downgrade_requires_session").audited(attempt)
    if after == "hipaa" != before and not agreements.signed(session(), [profile.id]):
        words = "Somebody must sign the agreement on protected health information first."
        raise errors.INVALID_STATE(words, reason="agreement_unsigned").audited(attempt)


def _withheld(workspace: Workspace, profile: Profile) -> int:
    """Scopes of personal data that live partner keys of the profile carry in vain."""
    if catalog.family_of(workspace, profile) != "healthcare":
        return 0
    alive = (ApiKey.revoked_at.is_(None), sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now()))
    of_partners = sa.select(ApiKey).where(ApiKey.profile_id == profile.id, ApiKey.app_id.is_not(None), *alive)
    return sum(len(auth.WITHHELD & set(key.scopes)) for key in session().scalars(of_partners))


def _details(profile: Profile, before: str, after: str) -> dict[str, Any]:
    return {
        "target": target("profile", profile.id, profile.name),
        "before": {"privacy_mode": before},
        "after": {"privacy_mode": after},
    }


def _shown(rules: Mapping[str, catalog.Rule]) -> dict[str, str]:
    words = {(True, True): "with value", (True, False): "without value"}
    return {name: words.get((rule.enabled, rule.send_value), "off") for name, rule in rules.items()}
