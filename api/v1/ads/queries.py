"""SQL behind the ad reads: which ad an id means, what it delivered, what it is credited with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from api.served import OUTCOMES, ProfileFacts, Reader
from api.v1.campaigns.queries import Slice, add_own

MOST_ADS = 10

_SUMMED_OR_ZERO = ", ".join(f"coalesce(sum({name}), 0) as {name}" for name in OUTCOMES)

_AD = """
select
    ads.*, campaigns.entity_id as campaign_id, campaigns.name as campaign_name,
    ad_sets.entity_id as ad_set_id, ad_sets.name as ad_set_name,
    shown.* exclude (profile_key, entity_key)
from entities as ads
left join entities as campaigns on campaigns.entity_key = ads.campaign_key
left join entities as ad_sets on ad_sets.entity_key = ads.ad_set_key
left join ad_creatives as shown on shown.profile_key = ads.profile_key and shown.entity_key = ads.entity_key
where ads.profile_key = $profile_key and ads.level = 'ad'
    and (ads.entity_id = lower($ad_id) or ads.platform_id = $ad_id)
order by ads.entity_id = lower($ad_id) desc
limit 2
"""

_DELIVERED = """
select
    coalesce(sum(spend_minor), 0) as spend_minor, coalesce(sum(impressions), 0) as impressions,
    coalesce(sum(clicks), 0) as clicks, count(*) as days, sum(link_clicks) as link_clicks,
    sum(video_3s_views) as video_3s_views, sum(video_15s_views) as video_15s_views,
    sum(messaging_conversations_started_7d) as conversations,
    sum(platform_conversions) as platform_conversions, sum(platform_conversion_value_minor) as platform_value_minor
from delivery_daily
where profile_key = $profile_key and level = $level and day between $date_from and $date_to and entity_key = $key
"""

_CREDITED = f"""
select {_SUMMED_OR_ZERO}, coalesce(sum(cash_minor), 0) as cash_minor
from credit_daily
where profile_key = $profile_key and model = $model and level = $level and day between $date_from and $date_to
    and entity_key = $key
"""  # noqa: S608 - only names of `served.py` are set in; values are bound

_ADS_OF = """
select entity_key, entity_id, platform_id, name
from entities
where profile_key = $profile_key and level = 'ad' and (entity_id = any($lowered) or platform_id = any($ids))
"""

_DEAREST = f"""
select entities.entity_key, entity_id, platform_id, name
from delivery_daily
join entities on entities.entity_key = delivery_daily.entity_key
where delivery_daily.profile_key = $profile_key and delivery_daily.level = $level
    and day between $date_from and $date_to and entities.profile_key = $profile_key
group by entities.entity_key, entity_id, platform_id, name
order by sum(spend_minor) desc, entity_id
limit {MOST_ADS}
"""  # noqa: S608 - a constant

_DAYS = """
select entity_key, day, spend_minor, impressions, clicks, messaging_conversations_started_7d as conversations
from delivery_daily
where profile_key = $profile_key and level = $level and day between $date_from and $date_to
    and entity_key = any($keys)
"""


def ad(reader: Reader, profile: ProfileFacts, ad_id: str) -> dict[str, Any] | None:
    """The ad with its parents and creative; None when no ad, or ads of several platforms, have this id."""
    found = reader.dicts(_AD, {"profile_key": profile.profile_key, "ad_id": ad_id})
    if len(found) == 2 and found[0]["entity_id"] != ad_id.lower():
        return None
    return found[0] if found else None


def delivered(reader: Reader, profile: ProfileFacts, of: Slice, key: int) -> dict[str, Any]:
    """Delivery of one entity over the window; `days` = rows of delivery it has there."""
    return reader.dicts(_DELIVERED, {**of.parameters(profile), "key": key})[0]


def credited(reader: Reader, profile: ProfileFacts, of: Slice, key: int) -> dict[str, Any]:
    """Credit of one entity over the window: counts by type and cash."""
    found = [{**row, "entity_key": key} for row in reader.dicts(_CREDITED, {**of.parameters(profile), "key": key})]
    add_own(reader, profile, of, found)
    return found[0]


def ads_of(reader: Reader, profile: ProfileFacts, ids: Sequence[str]) -> list[dict[str, Any]]:
    """The ads that these internal or platform ids mean, in the order asked, each once."""
    lowered = [one.lower() for one in ids]
    found = reader.dicts(_ADS_OF, {"profile_key": profile.profile_key, "ids": list(ids), "lowered": lowered})
    place = {one: n for named in (lowered, ids) for n, one in enumerate(named)}

    def turn(row: Mapping[str, Any]) -> tuple[int, str]:
        return min(place[one] for one in (row["entity_id"], row["platform_id"]) if one in place), row["entity_id"]

    return sorted(found, key=turn)


def dearest(reader: Reader, profile: ProfileFacts, of: Slice) -> list[dict[str, Any]]:
    """The ads with most spend in the window, at most ten."""
    return reader.dicts(_DEAREST, of.parameters(profile))


def days_of(
    reader: Reader, profile: ProfileFacts, of: Slice, keys: Sequence[int]
) -> dict[tuple[int, date], dict[str, Any]]:
    """Delivery by entity and day, where there was any."""
    found = reader.dicts(_DAYS, {**of.parameters(profile), "keys": list(keys)})
    return {(row["entity_key"], row["day"]): row for row in found}
