"""Pausing, resuming and re-budgeting at an ad platform: within the rules, on the record, and never told otherwise than
it is known. Free of Flask; call it while no transaction of the request is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from api import ad_entities, ad_platforms, audit, db, errors, platform_changes, platform_rules
from api.ad_entities import Named
from api.ad_platforms import Found
from api.audit import Actor, Attempt
from api.auth import Kind, Principal
from api.models import PlatformChange
from api.platform_rules import Wanted
from api.reach import on_profile
from api.roles import Role
from api.scopes import Scope
from connectors.ad_platform import Level, LiveState
from connectors.errors import ConnectorError
from touchledger.settings import Settings

NOT_FOUND = {"campaign": errors.CAMPAIGN_NOT_FOUND, "ad_set": errors.NOT_FOUND, "ad": errors.NOT_FOUND}
HAPPENED = {"pause": "paused", "resume": "resumed", "budget": "budget_changed"}
DONE = {"pause": "paused", "resume": "resumed", "budget": "changed"}
WOULD = {"pause": "would_pause", "resume": "would_resume", "budget": "would_change"}
# after these the platform may have done what it was asked: what was throttled may repeat a call whose answer was lost
LOST = {"timeout", "unavailable", "bad_response", "throttled"}


def change(
    settings: Settings,
    *,
    wanted: Wanted,
    by: Principal,
    actor: Actor,
    dry_run: bool = False,
    note: str | None = None,
    applied_by: str | None = None,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """Do what is wanted, or with `dry_run` only say whether it would be done; the answer of the write routes.

    `by` is the caller, `actor` the same as the trail names it; `applied_by` the member on whose behalf a key acts.
    Every attempt is audited, refused ones and dry runs too. Raises the ApiErrors of the write routes.
    """
    intent: dict[str, Any] = {"dry_run": dry_run}
    intent |= {name: said for name, said in (("note", note), ("applied_by", applied_by)) if said is not None}
    try:
        if applied_by is not None:
            refuse_stranger(settings, by, applied_by)
        target = ad_entities.named(settings, profile_id=by.profile.id, level=wanted.level, id_=wanted.id_)
        if target is None:
            raise not_found(wanted.level)
        opened = _begin(settings, wanted, target, by, actor, intent, idempotency_key)
    except errors.ApiError as refusal:
        about = audit.target(wanted.level, wanted.id_)
        raise refusal.audited(_attempt(wanted, {"target": about, **intent})) from None
    with _closing(settings, opened) as told:
        return _carried_out(settings, wanted, target, opened, told, dry_run=dry_run)


def not_found(level: Level) -> errors.ApiError:
    """404 for an id that is nothing of this level in the profile."""
    return NOT_FOUND[level]()


def _carried_out(
    settings: Settings, wanted: Wanted, target: Named, opened: PlatformChange, told: dict[str, Any], *, dry_run: bool
) -> dict[str, Any]:
    found = ad_platforms.find(settings, profile_id=opened.profile_id, target=target)
    if found is None:
        raise not_found(wanted.level)
    state = found.state
    before = platform_rules.current(wanted, state, target.status)
    told |= {"target": audit.target(wanted.level, state.platform_id, state.name), "before": _named(wanted, before)}
    moves = platform_rules.changes_something(wanted, state, target.status)
    if not moves or dry_run:
        outcome, after = "no_change" if not moves else WOULD[wanted.verb], before
    else:
        after = _asked_for(settings, wanted, found, told)
        outcome = DONE[wanted.verb]
        told["outcome"] = "done"
    told["after"] = _named(wanted, after)
    shown = {"action": wanted.verb, "outcome": outcome, "platform_id": state.platform_id, "level": wanted.level}
    return {**shown, **_result(wanted, state, before, after), "audit_id": opened.id, "dry_run": dry_run}


def _asked_for(settings: Settings, wanted: Wanted, found: Found, told: dict[str, Any]) -> platform_rules.Value:
    """What stands at the platform after it was asked; None when it confirmed and could not be read again.

    An answer that was lost, or a repetition not let in, says nothing of the deed: what the platform shows decides.
    """
    lost = None
    level, number = found.state.level, found.state.platform_id
    try:
        with ad_platforms.asking(settings, found.connection, within=ad_platforms.CHANGE, writes=True) as platform:
            if wanted.verb == "budget":
                platform.set_budget(level, number, wanted.budget_type, wanted.amount_minor)
            elif wanted.verb == "pause":
                platform.pause(level, number)
            else:
                platform.resume(level, number)
    except errors.ApiError as refusal:
        if not _may_be_done(refusal):
            raise
        lost = refusal
    seen = _look_again(settings, found)
    after = platform_rules.current(wanted, seen) if seen else None
    if lost is None or after == wanted.value:
        return after
    told |= {"after": _named(wanted, after), "confirmed": False}
    raise _unconfirmed(lost, after)


def _may_be_done(refusal: errors.ApiError) -> bool:
    # what is refused may repeat a call whose answer was lost, too
    failure = refusal.__cause__
    return refusal.reason in LOST or (isinstance(failure, ConnectorError) and failure.repeated)


def _look_again(settings: Settings, found: Found) -> LiveState | None:
    try:
        with ad_platforms.asking(settings, found.connection, within=ad_platforms.LOOK_AGAIN) as platform:
            return platform.state(found.state.level, found.state.platform_id)
    except errors.ApiError:
        return None


def _unconfirmed(lost: errors.ApiError, after: platform_rules.Value) -> errors.ApiError:
    """The same refusal, with what is known of the deed in its words."""
    is_refused = lost.reason not in LOST
    why = lost.message if is_refused or lost.reason == "throttled" else "The platform's answer was lost."
    if after is None:
        words = (
            f"{why} It cannot be asked what came of it: the change may have been made. "
            "Read what is live before you decide; asking for the same again does no harm."
        )
    elif is_refused:
        words = f"{why} It still shows {after}."
    else:
        words = (
            f"{why} A moment later it still showed {after}. The change may yet take effect; "
            "asking for the same again does no harm."
        )
    return errors.ApiError(lost.code, words, lost.reason, lost.headers, lost.fields)


def _begin(
    settings: Settings,
    wanted: Wanted,
    target: Named,
    by: Principal,
    actor: Actor,
    intent: dict[str, Any],
    idempotency_key: str | None,
) -> PlatformChange:
    about = audit.target(wanted.level, target.platform_id, target.name)
    budget = {"budget_type": wanted.budget_type, "amount_minor": wanted.amount_minor}
    return platform_changes.begin(
        settings.operational_url,
        by=by,
        actor=actor,
        attempt=_attempt(wanted, {"target": about, **intent}),
        operation=f"{wanted.level}.{wanted.verb}",
        target={"kind": wanted.level, "platform_id": target.platform_id, "name": target.name},
        request=budget if wanted.verb == "budget" else {},
        dry_run=intent["dry_run"],
        idempotency_key=idempotency_key,
    )


@contextmanager
def _closing(settings: Settings, opened: PlatformChange) -> Iterator[dict[str, Any]]:
    """Close the attempt whatever happens; the dict it gives holds what the trail shall tell of it."""
    told: dict[str, Any] = dict(opened.details)
    outcome = errors.INTERNAL_ERROR.code
    try:
        yield told
        outcome = told.pop("outcome", "no_change")
    except errors.ApiError as refusal:
        outcome = refusal.code.code
        raise
    finally:
        platform_changes.end(settings.operational_url, opened, outcome=outcome, details=told)


def _attempt(wanted: Wanted, details: dict[str, Any]) -> Attempt:
    asked = {"wanted": _named(wanted, wanted.value)}
    return Attempt(f"{wanted.level}.{HAPPENED[wanted.verb]}", {**details, **asked}, category=platform_changes.CATEGORY)


def _named(wanted: Wanted, value: platform_rules.Value) -> dict[str, platform_rules.Value]:
    return {f"{wanted.budget_type}_budget_minor" if wanted.verb == "budget" else "status": value}


def _result(
    wanted: Wanted, state: LiveState, before: platform_rules.Value, after: platform_rules.Value
) -> dict[str, Any]:
    if wanted.verb != "budget":
        return {"status_before": before, "status_after": after}
    allowed = platform_rules.bounds(int(before or 0))
    return {
        "budget_type": wanted.budget_type,
        "budget_before_minor": before,
        "budget_after_minor": after,
        "currency": state.currency,
        "allowed_min_minor": allowed.least,
        "allowed_max_minor": allowed.most,
    }


def refuse_stranger(settings: Settings, by: Principal, applied_by: str) -> None:
    """403 forbidden/applied_by_not_allowed unless a key acts on behalf of a member who may change campaigns."""
    with db.transaction(settings.operational_url, durable=False) as session:
        member = on_profile(session, applied_by, by.profile)
    may_change = Scope.CAMPAIGNS_APPLY in member.scopes and (member.role or Role.GUEST) >= Role.EDITOR
    if by.kind is not Kind.API_KEY or not may_change:
        message = "applied_by must name a member who may change campaigns, and only an API key may send it."
        raise errors.FORBIDDEN(message, reason="applied_by_not_allowed")
