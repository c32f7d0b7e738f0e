"""SQL behind GET /campaigns/platform-comparison: the platform's claims and our credit, side by side and never added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.served import ALL_OUTCOMES, PAYMENTS, ProfileFacts, Reader
from api.v1.campaigns.queries import Slice

_PLATFORMS = f"""
with delivered as (
    select
        entities.platform, sum(spend_minor) as spend_minor, sum(platform_conversions) as platform_conversions,
        sum(platform_conversion_value_minor) as platform_value_minor
    from delivery_daily
    join entities on entities.entity_key = delivery_daily.entity_key
    where delivery_daily.profile_key = $profile_key and delivery_daily.level = 'campaign'
        and day between $date_from and $date_to and entities.profile_key = $profile_key
    group by entities.platform
),
-- a platform that began to deliver on a day that is not over has no full day yet
begun as (
    select distinct entities.platform
    from platforms
    join entities on entities.platform = platforms.platform
    join delivery_daily on delivery_daily.entity_key = entities.entity_key
    where platforms.profile_key = $profile_key and platforms.delivery_through is null
        and entities.profile_key = $profile_key
        and delivery_daily.profile_key = $profile_key and delivery_daily.level = 'campaign'
),
credited as (
    select
        platform, sum({ALL_OUTCOMES}) as conversions, sum({PAYMENTS}) as cash_conversions,
        sum(cash_minor) as cash_minor
    from platform_credit_daily
    where profile_key = $profile_key and model = $model and day between $date_from and $date_to
    group by platform
),
unassigned as (
    select platform, sum(conversions) as conversions, sum(cash_minor) as cash_minor
    from unassigned_daily
    where profile_key = $profile_key and model = $model and level = $level and day between $date_from and $date_to
    group by platform
)
select
    platforms.platform, platforms.reported_basis, platforms.delivery_through,
    platforms.delivery_through is not null or platforms.platform in (select platform from begun) as has_delivery,
    coalesce(delivered.spend_minor, 0) as spend_minor, delivered.platform_conversions, delivered.platform_value_minor,
    coalesce(credited.conversions, 0) as conversions, coalesce(credited.cash_conversions, 0) as cash_conversions,
    coalesce(credited.cash_minor, 0) as cash_minor,
    coalesce(unassigned.conversions, 0) as unassigned_conversions,
    coalesce(unassigned.cash_minor, 0) as unassigned_cash_minor
from platforms
left join delivered on delivered.platform = platforms.platform
left join credited on credited.platform = platforms.platform
left join unassigned on unassigned.platform = platforms.platform
where platforms.profile_key = $profile_key
order by platforms.platform
"""  # noqa: S608 - only names of `served.py` are set in; values are bound

_ENTITIES = f"""
select
    figures.*,
    entities.entity_id, entities.platform, entities.platform_id, entities.name, entities.parent_name,
    count(*) over () as rows_total
from (
    select
        entity_key, sum(spend_minor) as spend_minor, sum(platform_conversions) as platform_conversions,
        sum(platform_value_minor) as platform_value_minor, sum(conversions) as conversions,
        sum(cash_conversions) as cash_conversions, sum(cash_minor) as cash_minor
    from (
        select
            entity_key, spend_minor, platform_conversions, platform_conversion_value_minor as platform_value_minor,
            0 as conversions, 0 as cash_conversions, 0 as cash_minor
        from delivery_daily
        where profile_key = $profile_key and level = $level and day between $date_from and $date_to
        union all
        select entity_key, 0, null, null, {ALL_OUTCOMES}, {PAYMENTS}, cash_minor
        from credit_daily
        where profile_key = $profile_key and model = $model and level = $level
            and day between $date_from and $date_to
    ) as days
    group by entity_key
) as figures
join entities on entities.entity_key = figures.entity_key
where entities.profile_key = $profile_key and entities.level = $level
"""  # noqa: S608 - as above

# a value is never negative, so 1 stands behind all of them: a platform that reported none comes last
_RANK = "platform, -cash_minor, coalesce(-platform_value_minor, 1), entity_id"
_AFTER = f"where ({_RANK}) > ($after_platform, $after_cash, $after_value, $after_id)"
_SORT_KEY = ("after_platform", "after_cash", "after_value", "after_id")


def platform_totals(reader: Reader, profile: ProfileFacts, of: Slice) -> list[dict[str, Any]]:
    """Sums per platform of the profile, all platforms, by name."""
    return reader.dicts(_PLATFORMS, of.parameters(profile))


def entity_page(
    reader: Reader, profile: ProfileFacts, of: Slice, *, most: int, after: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Up to `most` entities with delivery or credit, in the order of the report; each also holds `rows_total`.

    `after` is the `position` of the last row already given.
    """
    bound = {**of.parameters(profile), "most": most}
    sql = _ENTITIES
    if after is not None:
        # the total counts all pages, so the rows already given leave after it was taken
        sql = f"select * from ({sql}) as ranked {_AFTER}"  # noqa: S608 - constants
        bound |= dict(zip(_SORT_KEY, after, strict=True))
    return reader.dicts(f"{sql} order by {_RANK} limit $most", bound)


def position(row: Mapping[str, Any]) -> list[Any]:
    """Where a row stands in the order: its sort key, ascending."""
    value = row["platform_value_minor"]
    return [row["platform"], -row["cash_minor"], 1 if value is None else -value, row["entity_id"]]
