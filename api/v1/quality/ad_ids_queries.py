"""SQL behind GET /quality/ad-ids: paid clicks of a window, by what each told of its ad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.served import ProfileFacts, Reader
from api.windows import DateRange

NAMED = "named"
WHAT = ("platform", "reason", "landing_host", "utm_source", "utm_medium", "utm_campaign", "click_id_type")

_OF_WINDOW = """
from paid_clicks
where profile_key = $profile_key and day between $date_from and $date_to
    and ($platform is null or platform = $platform)
"""

_BY_REASON = f"""
select reason, sum(clicks) as clicks, sum(conversions) as conversions, sum(cash_minor) as cash_minor
{_OF_WINDOW} group by reason
"""

_ROWS = f"""
select
    {", ".join(f"nullif({name}, '') as {name}" for name in WHAT)},
    sum(clicks) as clicks, sum(conversions) as conversions, min(day) as first_seen, max(day) as last_seen,
    count(*) over () as rows_total
{_OF_WINDOW} and reason <> '{NAMED}'
group by all
order by sum(clicks) desc, {", ".join(f"{place} nulls last" for place in range(1, len(WHAT) + 1))}
limit $most
"""


_PLATFORMS = "select distinct platform from paid_clicks where profile_key = $profile_key and platform <> ''"


@dataclass(frozen=True)
class Asked:
    """What one report is about; `platform` None is every platform, the unknown one included."""

    window: DateRange
    platform: str | None

    def parameters(self, profile: ProfileFacts) -> dict[str, object]:
        dates = {"date_from": self.window.date_from, "date_to": self.window.date_to}
        return {"profile_key": profile.profile_key, "platform": self.platform, **dates}


def by_reason(reader: Reader, profile: ProfileFacts, asked: Asked) -> dict[str, dict[str, int]]:
    """Clicks, conversions and cash in minor units per reason; clicks that named their ad are under `named`."""
    return {row.pop("reason"): row for row in reader.dicts(_BY_REASON, asked.parameters(profile))}


def rows(reader: Reader, profile: ProfileFacts, asked: Asked, *, most: int) -> list[dict[str, Any]]:
    """Up to `most` kinds of clicks that named no ad, most clicks first; each row also holds `rows_total`."""
    return reader.dicts(_ROWS, {**asked.parameters(profile), "most": most})


def platforms(reader: Reader, profile: ProfileFacts) -> list[str]:
    """The ad platforms that paid clicks of any day came from."""
    return [platform for (platform,) in reader.rows(_PLATFORMS, {"profile_key": profile.profile_key})]
