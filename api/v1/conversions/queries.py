"""SQL behind the conversion reads: counts, lists, and one conversion with its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.served import CONVERSION_TYPES, MODELS, REVENUE_TYPES, ProfileFacts, Reader
from api.v1.conversions.decay import decay_units
from api.windows import DateRange

_COUNTED = "\nunion all ".join(
    f"select day, {type_}, '{worth}', {name}, {'cash_minor' if worth == 'cash' else '0'} from days"  # noqa: S608
    for name, type_, worth in (
        *((name, f"'{name}'", "cash" if name == "payment_received" else "pipeline") for name in CONVERSION_TYPES),
        *((f"custom_{worth}", "custom_type", worth) for worth in REVENUE_TYPES),
    )
)
_DAYS = f"""
with days as (
    select * from outcomes_daily where profile_key = $profile_key and day between $date_from and $date_to
)
select type, revenue_type, day, count, cash_minor
from ({_COUNTED}) as counted (day, type, revenue_type, count, cash_minor)
where count > 0
"""  # noqa: S608 - only names of `served.py` are set in; values are bound

_GOAL = "select 1 from outcomes_daily where profile_key = $profile_key and custom_type = $type limit 1"

CONVERSION = """conversion_key, conversion_id, outcome_event_id, event_key, conversion_type, ts, day, is_cash,
    cash_minor, refunded_minor, pipeline_minor, path_conversion_key, inherited_from, touches, person_key"""

_LISTED = """
select {columns}, {model}_campaign is not null as credited, entities.entity_id as campaign_id
from conversions
left join entities on entities.entity_key = conversions.{model}_campaign
    and entities.profile_key = $profile_key and entities.level = 'campaign'
where conversions.profile_key = $profile_key and day between $date_from and $date_to {filters}
order by ts desc, conversion_id, conversion_key
limit $most
"""
_OF_TYPE = "and conversion_type = $type"
_CREDITED = "and ({model}_campaign is not null) = $credited"
_AFTER = "and (-ts, conversion_id, conversion_key) > ($after_ts, $after_id, $after_key)"

# a handle is a conversion's id before it is an event's id, and that before it is a caller's own key
_FOUND = f"""
select {CONVERSION}
from conversions
where profile_key = $profile_key
    and (conversion_id = lower($handle) or outcome_event_id = lower($handle) or event_key = $handle
        or ($by_ref and conversion_ref = $handle))
order by case when conversion_id = lower($handle) then 0 when outcome_event_id = lower($handle) then 1
        when event_key = $handle then 2 else 3 end, conversion_key
limit 1
"""  # noqa: S608 - as above

_OF_ANOTHER_RECORD = f"""
select {CONVERSION}
from conversions
where profile_key = $profile_key and is_cash and conversion_ref in (
    select payment_ref
    from payment_keys
    where profile_key = $profile_key and (outcome_event_id = lower($handle) or event_key = $handle)
)
limit 1
"""  # noqa: S608 - as above

TOUCH = """touches.position, touches.first_position, cast(touches.touch_id as varchar) as touch_id, touches.ts,
    touches.channel, touches.origin, destinations.platform, touches.source, touches.medium, touches.campaign_label,
    touches.ad_external_id, touches.is_direct, touches.is_paid, touches.destination_key, destinations.reason,
    campaigns.entity_id as campaign_id, campaigns.name as campaign_name, ad_sets.entity_id as ad_set_id,
    ads.entity_id as ad_id, ads.name as ad_name"""
DESTINATIONS = "\n".join(
    (
        "join destinations on destinations.destination_key = touches.destination_key"
        " and destinations.profile_key = $profile_key",
        *(
            f"left join entities as {name} on {name}.entity_key = destinations.{key}"
            f" and {name}.profile_key = $profile_key"
            for name, key in (("campaigns", "campaign_key"), ("ad_sets", "ad_set_key"), ("ads", "ad_key"))
        ),
    )
)

_PATH = f"""
select {TOUCH}, paths.p_from, paths.p_last, paths.p_first, paths.p_lnd, paths.n, paths.s_dec, paths.is_capped,
    paths.newest_ts, paths.ln2_over_hl
from paths
join touches on touches.profile_key = $profile_key and touches.person_key = paths.person_key
    and touches.position between paths.p_from and paths.p_last
{DESTINATIONS}
where paths.profile_key = $profile_key and paths.conversion_key = $conversion_key
order by touches.position
"""  # noqa: S608 - as above

_WINDOW = """
select count(*)
from conversions
join touches on touches.profile_key = $profile_key and touches.person_key = conversions.person_key
    and touches.ts between conversions.ts - $lookback_s and conversions.ts
where conversions.profile_key = $profile_key and conversions.conversion_key = $conversion_key
"""

_CENTS = """
select model, destination_key, cents from credit_cents
where profile_key = $profile_key and conversion_key = $conversion_key
"""


@dataclass(frozen=True)
class Listed:
    """Which conversions a list holds."""

    window: DateRange
    model: str
    type: str | None
    credited: bool | None


def daily(reader: Reader, profile: ProfileFacts, window: DateRange) -> list[dict[str, Any]]:
    """Conversions and net cash per type and day; types and days without conversions are absent."""
    return reader.dicts(_DAYS, _window(profile, window))


def has_goal(reader: Reader, profile: ProfileFacts, type_: str) -> bool:
    """Whether any outcome of that type of the profile's own is published."""
    return bool(reader.rows(_GOAL, {"profile_key": profile.profile_key, "type": type_}))


def page(
    reader: Reader, profile: ProfileFacts, of: Listed, *, most: int, after: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Up to `most` conversions, newest first, each with its campaign of the largest share under the model."""
    if of.model not in MODELS:
        raise ValueError(of.model)
    bound: dict[str, object] = {**_window(profile, of.window), "most": most}
    filters = []
    if of.type is not None:
        filters.append(_OF_TYPE)
        bound["type"] = of.type
    if of.credited is not None:
        filters.append(_CREDITED.format(model=of.model))
        bound["credited"] = of.credited
    if after is not None:
        filters.append(_AFTER)
        bound |= dict(zip(("after_ts", "after_id", "after_key"), after, strict=True))
    return reader.dicts(_LISTED.format(columns=CONVERSION, model=of.model, filters="\n".join(filters)), bound)


def position(row: Mapping[str, Any]) -> list[Any]:
    """Where a row stands in the list: its sort key, ascending."""
    return [-row["ts"], row["conversion_id"], row["conversion_key"]]


def conversion(
    reader: Reader, profile: ProfileFacts, handle: str, *, by_reference: bool = False
) -> dict[str, Any] | None:
    """The conversion with that id, event id or caller's key (also payment reference, `by_reference`), or None.

    A payment is found by each of the caller's records that tell of it, though it is told under one of them.
    """
    bound = {"profile_key": profile.profile_key, "handle": handle}
    found = reader.dicts(_FOUND, {**bound, "by_ref": by_reference}) or reader.dicts(_OF_ANOTHER_RECORD, bound)
    return found[0] if found else None


def path(reader: Reader, profile: ProfileFacts, conversion_key: int | None) -> list[dict[str, Any]]:
    """Touches of the path that this conversion owns, in its order, each with what its weights are made of."""
    found = reader.dicts(_PATH, {"profile_key": profile.profile_key, "conversion_key": conversion_key})
    return [
        {**touch, "decay_units": decay_units(touch["newest_ts"] - touch["ts"], touch["ln2_over_hl"])} for touch in found
    ]


def touches_in_window(reader: Reader, profile: ProfileFacts, conversion_key: int) -> int:
    """Touches that a path would have if paths were not cut."""
    bound = {"profile_key": profile.profile_key, "conversion_key": conversion_key}
    ((count,),) = reader.rows(_WINDOW, {**bound, "lookback_s": profile.lookback_days * 86_400})
    return int(count)


def cents(reader: Reader, profile: ProfileFacts, conversion_key: int) -> dict[tuple[str, int], int]:
    """Minor units by model and destination."""
    bound = {"profile_key": profile.profile_key, "conversion_key": conversion_key}
    return {(model, destination): amount for model, destination, amount in reader.rows(_CENTS, bound)}


def _window(profile: ProfileFacts, window: DateRange) -> dict[str, object]:
    return {"profile_key": profile.profile_key, "date_from": window.date_from, "date_to": window.date_to}
