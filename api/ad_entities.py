"""Which campaign, ad set or ad of a profile an id means, by what was synced last."""

from __future__ import annotations

from dataclasses import dataclass

from api.fields import LONGEST_ID
from api.served import profile_facts
from api.snapshot import snapshots
from api.warehouse_ids import uuid_v8
from connectors.ad_platform import Level, LinkedAd
from touchledger.settings import Settings

_NAMED = """
select platform, platform_id, name, status
from entities
where profile_key = $profile_key and level = $level and (entity_id = lower($id) or platform_id = $id)
order by entity_id = lower($id) desc
limit 2
"""


_LINKED = """
select
    ads.platform, ads.platform_id, ads.name, campaigns.name as campaign_name, shown.landing_host, shown.url_tags,
    -- what stands here as an ad set with one ad of its own id
    coalesce(ads.platform = 'google' and ad_sets.platform_id = ads.platform_id, false) as is_asset_group
from entities as ads
left join entities as ad_sets
    on ad_sets.profile_key = ads.profile_key and ad_sets.level = 'ad_set' and ad_sets.entity_key = ads.ad_set_key
left join entities as campaigns
    on campaigns.profile_key = ads.profile_key and campaigns.level = 'campaign'
    and campaigns.entity_key = ads.campaign_key
-- of an ad that only delivery named nobody knows the link, and it is no ad without one
join ad_creatives as shown on shown.profile_key = ads.profile_key and shown.entity_key = ads.entity_key
where ads.profile_key = $profile_key and ads.level = 'ad' and coalesce(ads.status, '') not in ('ARCHIVED', 'DELETED')
    and ($platform is null or ads.platform = $platform)
"""

_HAS_ADS = """
select exists (from entities where profile_key = $profile_key and level = 'ad' and platform = $platform)
"""


@dataclass(frozen=True, slots=True)
class Named:
    """What an id means. One that was never synced has no `platform`, since its id alone does not tell it."""

    level: Level
    platform_id: str
    platform: str | None = None
    name: str | None = None
    status: str | None = None


def named(settings: Settings, *, profile_id: str, level: Level, id_: str) -> Named | None:
    """The object of the profile that the service's id or the platform's id means.

    None for an id that is neither, and for a platform's id that two platforms use. A number that nothing was synced
    under is taken for the id of something new on the platform.
    """
    if not 1 <= len(id_) <= LONGEST_ID or not id_.isascii() or not id_.isprintable():
        return None
    found = []
    with snapshots(settings).reader() as reader:
        profile = profile_facts(reader, profile_id) if reader else None
        if reader and profile:
            bound = {"profile_key": profile.profile_key, "level": level, "id": id_}
            found = reader.dicts(_NAMED, bound)
    if not found:
        return Named(level, id_) if id_.isdigit() else None
    first = Named(level, found[0]["platform_id"], found[0]["platform"], found[0]["name"], found[0]["status"])
    by_own_id = entity_id(profile_id, first.platform or "", level, first.platform_id) == id_.lower()
    return first if by_own_id or len(found) == 1 else None


def linked_ads(settings: Settings, *, profile_id: str, platform: str | None) -> list[tuple[str, LinkedAd]]:
    """Every ad that was neither archived nor deleted when it was synced last, each with its platform.

    Without those that were never synced themselves and are only known to have spent. Of the landing URL only the host
    is published.
    """
    found = []
    with snapshots(settings).reader() as reader:
        profile = profile_facts(reader, profile_id) if reader else None
        if reader and profile:
            found = reader.dicts(_LINKED, {"profile_key": profile.profile_key, "platform": platform})
    return [
        (
            row["platform"],
            LinkedAd(
                row["platform_id"],
                row["name"],
                row["campaign_name"] or "",
                f"https://{row['landing_host']}" if row["landing_host"] else None,
                row["url_tags"],
                row["is_asset_group"],
            ),
        )
        for row in found
    ]


def has_ads(settings: Settings, *, profile_id: str, platform: str) -> bool:
    """Whether any ad of the platform was synced, whatever became of it."""
    with snapshots(settings).reader() as reader:
        profile = profile_facts(reader, profile_id) if reader else None
        if reader is None or profile is None:
            return False
        return bool(reader.rows(_HAS_ADS, {"profile_key": profile.profile_key, "platform": platform})[0][0])


def entity_id(profile_id: str, platform: str, level: Level, platform_id: str) -> str:
    """The service's id of an object, synced or not."""
    return uuid_v8(profile_id, level, f"{platform}:{platform_id}")
