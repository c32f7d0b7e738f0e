"""What may be done to a campaign, ad set or ad in its present state: no platform is asked here, and nothing written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from api import errors
from connectors.ad_platform import FINAL, BudgetType, Level, LiveState

FLOOR_MINOR = 100

Verb = Literal["pause", "resume", "budget"]
Value = str | int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asks for: a verb, of what level, by which id; a budget also with its type and amount.

    With `only_up` a budget that is as large already stays as it is.
    """

    verb: Verb
    level: Level
    id_: str
    budget_type: BudgetType = "daily"
    amount_minor: int = 0
    only_up: bool = False

    @property
    def value(self) -> Value:
        """What it will be set to."""
        return {"pause": "PAUSED", "resume": "ACTIVE"}.get(self.verb, self.amount_minor)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The budgets, in minor units, that one step may lead to; none when `least` is above `most`."""

    least: int
    most: int


def bounds(live_minor: int) -> Bounds:
    """At most half of the live budget up or down, and never under the floor."""
    return Bounds(max(FLOOR_MINOR, live_minor - live_minor // 2), live_minor + live_minor // 2)


def current(wanted: Wanted, state: LiveState, synced_status: str | None = None) -> Value:
    """The status or budget that the change is about; the status last synced where the platform tells none."""
    return state.budget(wanted.budget_type) if wanted.verb == "budget" else state.status or synced_status


def changes_something(wanted: Wanted, state: LiveState, synced_status: str | None = None) -> bool:
    """Whether the platform is to be asked; False when it is so already. Raises the refusal of the state table."""
    if state.is_final or state.is_in_final_campaign or (state.status is None and synced_status in FINAL):
        raise _FINAL[wanted.verb, wanted.level](_BELOW.get(wanted.level))
    now = current(wanted, state, synced_status)
    if wanted.verb == "budget":
        live = state.budget(wanted.budget_type)
        if wanted.only_up and live is not None and live >= wanted.amount_minor:
            return False
        _refuse_step(wanted, state)
    elif now is None:
        raise errors.PROVIDER_ERROR("The platform told no status, and none was ever synced.", reason="bad_response")
    return now != wanted.value


def _refuse_step(wanted: Wanted, state: LiveState) -> None:
    live = state.budget(wanted.budget_type)
    if live is None:
        raise errors.INVALID_STATE(f"It has no {wanted.budget_type} budget.", reason="no_budget_of_type")
    if wanted.amount_minor % state.budget_step_minor:
        raise errors.VALIDATION_ERROR(
            f"amount_minor must be a multiple of {state.budget_step_minor}: the platform counts {state.currency} so."
        )
    allowed = bounds(live)
    if not allowed.least <= wanted.amount_minor <= allowed.most:
        told = f"from {allowed.least} to {allowed.most}" if allowed.least <= allowed.most else "none"
        raise errors.BUDGET_CHANGE_OUT_OF_BOUNDS(
            f"The live budget is {live} minor units of {state.currency}; allowed in one step: {told}."
        )


_FINAL = {
    ("pause", "campaign"): errors.CAMPAIGN_NOT_PAUSABLE,
    ("resume", "campaign"): errors.CAMPAIGN_NOT_RESUMABLE,
    ("budget", "campaign"): errors.CAMPAIGN_NOT_EDITABLE,
    # the catalogue has no codes of their own for what is below a campaign
    **dict.fromkeys((("pause", "ad_set"), ("pause", "ad")), errors.CAMPAIGN_NOT_PAUSABLE),
    **dict.fromkeys((("resume", "ad_set"), ("resume", "ad")), errors.CAMPAIGN_NOT_RESUMABLE),
    ("budget", "ad_set"): errors.ADSET_NOT_EDITABLE,
}
# the catalogue's words are about campaigns; what is below one may be gone while its campaign runs
_BELOW: dict[Level, str] = {
    "ad_set": "The ad set, or the campaign it belongs to, is archived or deleted.",
    "ad": "The ad, or what it belongs to, is archived or deleted.",
}
