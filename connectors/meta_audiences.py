"""To whom Meta shows an ad: how well an ad set's people know the advertiser, and where each ad-day was shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# subtypes of custom audiences whose people did something at the advertiser's, and of those who reacted or are alike
HOT = {"CUSTOM", "WEBSITE", "APP", "OFFLINE_CONVERSION"}
WARM = {"ENGAGEMENT", "IG_BUSINESS", "VIDEO", "LOOKALIKE", "MESSENGER_SUBSCRIBER_LIST"}
# our dimension, and the breakdowns Meta lets stand together for it
DIMENSIONS = {
    "geo": ("country",),
    "placement": ("publisher_platform", "platform_position"),
    "audience": ("user_segment_key",),
}
_SEGMENTS = {"existing": "hot", "engaged": "warm", "prospecting": "cold"}


def subtypes(audiences: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What kind each custom audience is, by id; without those of which Meta does not say."""
    return {str(node["id"]): str(node["subtype"]) for node in audiences if node.get("subtype")}


def warmth(targeting: Mapping[str, Any] | None, subtypes: Mapping[str, str]) -> str | None:
    """hot, warm, cold or mixed, by the audiences included; None where one of them cannot be read.

    `subtypes` are those of the account's custom audiences, by id.
    """
    if targeting is None:
        return None
    included = [str(audience["id"]) for audience in targeting.get("custom_audiences") or []]
    if any(audience not in subtypes for audience in included):
        return None
    kinds = {_warmth_of(subtypes[audience]) for audience in included} or {"cold"}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _warmth_of(subtype: str) -> str:
    if subtype in HOT:
        return "hot"
    return "warm" if subtype in WARM else "cold"


def shown_to(row: Mapping[str, Any], dimension: str) -> str:
    """The value of one of `DIMENSIONS` that an insights row is about; `unknown` where Meta leaves it out."""
    parts = [str(row.get(name) or "unknown").lower() for name in DIMENSIONS[dimension]]
    if dimension == "audience":
        return _SEGMENTS.get(parts[0], "unknown")
    # Meta writes `instagram_stories` of instagram, but `feed` of both
    return parts[-1] if parts[-1].startswith(parts[0]) else "_".join(parts)
