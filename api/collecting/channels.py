"""The label of a visit's origin that lists of visitors show; credit is never decided by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from api.collecting.page import Parameters
from data_contracts.rules import AD_CLICK_IDS, PAID_MEDIUMS

SEARCH = (
    *("google", "bing", "duckduckgo", "yahoo", "yandex", "baidu", "ecosia", "qwant", "startpage", "naver", "seznam"),
    "search.brave",
)
SOCIAL = (
    *("facebook", "instagram", "t.co", "twitter", "x.com", "linkedin", "lnkd", "pinterest", "reddit", "tiktok"),
    *("youtube", "threads", "snapchat", "vk.com", "weibo"),
)
_MEDIUMS: Mapping[str, str] = {
    "email": "email", "e-mail": "email", "newsletter": "email",
    "social": "social", "social-media": "social", "social_media": "social", "sm": "social",
    "organic": "organic_search", "referral": "referral",
}  # fmt: skip


def channel_of(parameters: Parameters, referrer: str | None) -> str:
    """paid, organic_search, social, email, referral, other or direct."""
    medium = parameters.utm.get("medium", "").lower()
    if parameters.ad or AD_CLICK_IDS & parameters.click_ids.keys() or medium in PAID_MEDIUMS:
        return "paid"
    if parameters:
        return _MEDIUMS.get(medium, "other")
    if referrer is None:
        return "direct"
    if _is_one_of(referrer, SEARCH):
        return "organic_search"
    return "social" if _is_one_of(referrer, SOCIAL) else "referral"


def _is_one_of(host: str, names: Iterable[str]) -> bool:
    """Whether a host has one of the names between its dots, wherever in the world it stands."""
    dotted = f".{host}."
    return any(f".{name}." in dotted for name in names)
