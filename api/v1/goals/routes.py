"""GET and POST /goals, PATCH and DELETE /goals/{id}."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from api import auth, context, db, errors, goals, pagination
from api.audit import Attempt, record, target
from api.goals import Goal
from api.guard import guarded
from api.http import Blueprint
from api.models import GoalRow, Profile
from api.op_lists import ListQuery
from api.scopes import Scope
from api.v1.attribution.asking import ask_anew
from api.v1.goals.schemas import GoalBody, GoalChanges, GoalDeleted, GoalShape
from api.writing import actor, idempotent, session

bp = Blueprint("goals", __name__, description="What counts as a conversion, and under which type.")

_NAMES = ("display_name", "source_event_names", "revenue_type", "attribution_eligible")
_OF_BUILT_IN = frozenset({"display_name", "source_event_names"})


@bp.route("/goals")
@guarded(scope=Scope.CONVERSIONS_READ)
@bp.arguments(ListQuery, location="query")
@bp.response(200, GoalShape(many=True))
def goal_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The goals of the profile, by conversion_key

    A payment's name may be that of a placed order as well: a server is believed about cash, a browser is not.
    """
    profile_id = auth.current().profile.id
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        rows = reading.scalars(sa.select(GoalRow).where(GoalRow.profile_id == profile_id)).all()
    ids = {row.conversion_key: row.id for row in rows}
    found = sorted(goals.with_rows(rows), key=lambda goal: goal.conversion_key)
    return [_told(goal, ids.get(goal.conversion_key)) for goal in _page(found, query, profile_id)]


@bp.route("/goals", methods=["POST"])
@guarded(scope=Scope.GOALS_WRITE)
@bp.arguments(GoalBody)
@idempotent()
@bp.response(201, GoalShape)
def add_goal(body: dict[str, Any]) -> dict[str, Any]:
    """Define a goal

    Events that came before it count as well, from the recompute's snapshot on.
    """
    profile, known = _locked()
    key = body["conversion_key"]
    attempt = Attempt("goal.created", {"target": target("goal", "", key), "after": body})
    if any(goal.conversion_key == key for goal in known):
        raise errors.INVALID_STATE("A goal has this conversion_key.", reason="duplicate_name").audited(attempt)
    _refuse_taken(known, key, body["source_event_names"], attempt)
    row = GoalRow(id=db.new_id(), profile_id=profile.id, **body)
    session().add(row)
    session().flush()
    _follow(profile, Attempt("goal.created", {"target": target("goal", row.id, key), "after": body}))
    return _told(goals.goal_of_row(row), row.id)


@bp.route("/goals/<goal_id>", methods=["PATCH"])
@guarded(scope=Scope.GOALS_WRITE, uuids=["goal_id"])
@bp.arguments(GoalChanges)
@idempotent()
@bp.response(200, GoalShape)
def change_goal(body: dict[str, Any], goal_id: str) -> dict[str, Any]:
    """Change a goal, or the events of a built-in one

    All history follows, from the recompute's snapshot on. What a built-in goal is worth cannot be changed.
    """
    profile, known = _locked()
    goal, row = _found(profile.id, known, goal_id)
    before = _kept(goal)
    changed = {name: body[name] for name in _NAMES if name in body and body[name] != before[name]}
    details = {
        "target": target("goal", goal_id, goal.conversion_key),
        "before": {name: before[name] for name in changed},
        "after": changed,
    }
    attempt = Attempt("goal.updated", details)
    if goal.is_built_in and not changed.keys() <= _OF_BUILT_IN:
        raise errors.INVALID_STATE("Of a built-in goal only names change.", reason="goal_built_in").audited(attempt)
    _refuse_taken(known, goal.conversion_key, changed.get("source_event_names", []), attempt)
    if not changed:
        record(session(), actor(), attempt, outcome="no_change")
        return _told(goal, goal_id)
    if row is None:
        row = GoalRow(id=goal_id, profile_id=profile.id, conversion_key=goal.conversion_key, **before)
        session().add(row)
    for name, value in changed.items():
        setattr(row, name, value)
    row.updated_at = db.now()
    session().flush()
    _follow(profile, attempt)
    return _told(goals.goal_of_row(row), goal_id)


@bp.route("/goals/<goal_id>", methods=["DELETE"])
@guarded(scope=Scope.GOALS_WRITE, uuids=["goal_id"])
@idempotent()
@bp.response(200, GoalDeleted)
def delete_goal(goal_id: str) -> dict[str, Any]:
    """Delete a goal

    Its events are kept, and are outcomes no longer from the recompute's snapshot on. Built-in goals stay.
    """
    profile, known = _locked()
    goal, row = _found(profile.id, known, goal_id)
    details = {"target": target("goal", goal_id, goal.conversion_key), "before": _kept(goal)}
    attempt = Attempt("goal.deleted", details)
    if goal.is_built_in:
        raise errors.INVALID_STATE("A built-in goal stays.", reason="goal_built_in").audited(attempt)
    session().delete(row)
    _follow(profile, attempt)
    return {"goal_id": goal_id, "deleted": True}


def _locked() -> tuple[Profile, tuple[Goal, ...]]:
    """The profile, whose lock keeps two goals from taking one name, and its goals."""
    profile = session().get_one(Profile, auth.current().profile.id, with_for_update={"key_share": True})
    return profile, goals.goals_of(session(), profile.id)


def _found(profile_id: str, known: Iterable[Goal], goal_id: str) -> tuple[Goal, GoalRow | None]:
    """The goal of this id, and its row if it has one."""
    row = session().get(GoalRow, goal_id)
    if row is not None and row.profile_id == profile_id:
        return next(goal for goal in known if goal.conversion_key == row.conversion_key), row
    for goal in known:
        if goal.is_built_in and goals.goal_id(profile_id, goal.conversion_key) == goal_id:
            return goal, None
    raise errors.NOT_FOUND()


def _refuse_taken(known: Iterable[Goal], key: str, names: Iterable[str], attempt: Attempt) -> None:
    name = goals.taken(known, key, names)
    if name is not None:
        raise errors.INVALID_STATE(f"Another goal counts {name}.", reason="event_name_taken").audited(attempt)


def _follow(profile: Profile, attempt: Attempt) -> None:
    """Note the change, and have all history computed under it."""
    profile.goals_version += 1
    record(session(), actor(), attempt)
    ask_anew(session(), profile.id)


def _page(found: list[Goal], query: dict[str, Any], profile_id: str) -> list[Goal]:
    listing, key = pagination.Listing("/goals", profile_id, {}), context.settings().signing_key()
    if query["cursor"] is not None:
        (last,) = pagination.read(key, listing, query["cursor"]).position
        found = [goal for goal in found if goal.conversion_key > last]
    page = found[: query["limit"]]
    has_next = len(found) > len(page)
    cursor = pagination.issue(key, listing, [page[-1].conversion_key], None) if has_next else None
    context.paginate(cursor=cursor, has_next=has_next)
    return page


def _kept(goal: Goal) -> dict[str, Any]:
    return {
        "display_name": goal.display_name,
        "source_event_names": list(goal.event_names),
        "revenue_type": goal.revenue_type,
        "attribution_eligible": goal.attribution_eligible,
    }


def _told(goal: Goal, id_: str | None) -> dict[str, Any]:
    return {
        "goal_id": id_ or goals.goal_id(auth.current().profile.id, goal.conversion_key),
        "conversion_key": goal.conversion_key,
        "built_in": goal.is_built_in,
        **_kept(goal),
    }
