"""What the links of ads should carry, and what is wrong with those that do not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

MACROS = {
    "meta": ("{{campaign.id}}", "{{adset.id}}", "{{ad.id}}"),
    "google": ("{campaignid}", "{adgroupid}", "{creative}"),
    "tiktok": ("__CAMPAIGN_ID__", "__AID__", "__CID__"),
}
# in place of ads, which have another macro than these
ASSET_GROUP_MACROS = ("{campaignid}", "{assetgroupid}", "{assetgroupid}")
# where nobody knows which of the two it is: behind each of them the other's macro becomes nothing
EITHER_MACROS = ("{campaignid}", "{adgroupid}{assetgroupid}", "{creative}{assetgroupid}")
UNKNOWN_MACROS = ("<campaign id>", "<ad set id>", "<ad id>")
SEVERITIES = {
    "missing_utm_source": "error",
    "missing_utm_medium": "error",
    "missing_ad_id": "error",
    "macro_not_expanded": "error",
    "duplicate_parameter": "warning",
    "parameters_after_fragment": "warning",
    "mixed_case_source": "warning",
    "personal_data_in_url": "error",
}
HIDDEN = "***"

_MACRO = re.compile(r"\{\{[^{}]*\}\}|\{[^{}]*\}|__[A-Z0-9_]+__")
_EXPANDED = {
    "meta": {
        *(f"{{{{{name}.{part}}}}}" for name in ("campaign", "adset", "ad") for part in ("id", "name")),
        "{{site_source_name}}",
        "{{placement}}",
    },
    "tiktok": {
        *("__CAMPAIGN_ID__", "__CAMPAIGN_NAME__", "__AID__", "__AID_NAME__", "__CID__", "__CID_NAME__"),
        *("__PLACEMENT__", "__CLICKID__"),
    },
    "google": {
        f"{{{name}}}"
        for name in (
            "campaignid", "adgroupid", "creative", "keyword", "matchtype", "network", "device", "devicemodel", "gclid",
            "lpurl", "targetid", "target", "placement", "adposition", "feeditemid", "extensionid", "random",
            "loc_physical_ms", "loc_interest_ms", "adtype", "product_id", "merchant_id", "product_partition_id",
            "product_channel", "product_country", "product_feed_label", "product_language", "store_code",
            "campaigntype", "assetgroupid", "aceid", "ignore", "param1", "param2",
        )
    },
}  # fmt: skip
# what an advertiser of Google's named, and texts that stand there on a condition or where nothing else does
_OF_GOOGLE = re.compile(r"\{(?:_[A-Za-z0-9]{1,16}|(?:if(?:not)?mobile|ifsearch|ifcontent|param[12]):[^{}]*)\}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_PHONE = re.compile(r"\+[0-9][0-9 ().-]{7,18}[0-9]")
_PERSONAL_NAMES = {"email", "e-mail", "mail", "phone", "tel", "telephone"}


def suggested(platform: str | None, *, is_asset_group: bool = False) -> str:
    """URL parameters whose macros the platform replaces by its ids; placeholders where we do not know its macros."""
    return _tags(platform, _macros(platform or "", is_asset_group))


def suggested_for_any(platform: str | None) -> str:
    """The same for all ads of a platform, whatever they are: what may stand in the settings of an account."""
    return _tags(platform, EITHER_MACROS if platform == "google" else _macros(platform or "", False))


def issues(
    *, platform: str, ad_id: str, landing_url: str | None, url_tags: str | None, is_asset_group: bool = False
) -> list[str]:
    """What is wrong with the links of one ad, in the order of `SEVERITIES`.

    The platform appends `url_tags` to the landing URL; what stands behind its fragment never reaches the site.
    """
    query, fragment = _parts(landing_url)
    tags = (url_tags or "").lstrip("?&")
    pairs = [*_pairs(query), *_pairs(tags)]
    values: dict[str, str] = {}
    for name, value in pairs:
        values.setdefault(name, value)
    source = values.get("utm_source", "")
    wrong = {
        "missing_utm_source": not source,
        "missing_utm_medium": not values.get("utm_medium"),
        "missing_ad_id": not _names_ad(platform, values.get("ad_id", ""), ad_id, _macros(platform, is_asset_group)[2]),
        "macro_not_expanded": any(_left_over(platform, value) for _, value in pairs),
        "duplicate_parameter": len({name for name, _ in pairs}) < len(pairs),
        "parameters_after_fragment": "=" in fragment or "#" in tags,
        "mixed_case_source": _MACRO.sub("", source) != _MACRO.sub("", source).lower(),
        "personal_data_in_url": any(_is_personal(*pair) for pair in pairs),
    }
    return [check for check in SEVERITIES if wrong[check]]


def shown(url_tags: str | None) -> str | None:
    """The parameters as they may be told: values that look like somebody's address or number are hidden."""
    if not url_tags:
        return None
    return "&".join(map(_hidden, url_tags.split("&")))


def host(landing_url: str | None) -> str | None:
    """The host of a landing URL in lower case, or None."""
    try:
        return urlsplit(landing_url or "").hostname
    except ValueError:
        return None


def is_error(found: Iterable[str]) -> bool:
    """Whether one of the issues costs attribution or leaks, rather than only being untidy."""
    return any(SEVERITIES[check] == "error" for check in found)


def _tags(platform: str | None, macros: tuple[str, str, str]) -> str:
    campaign, ad_set, ad = macros
    slug = platform or "<platform>"
    labels = f"utm_source={slug}&utm_medium=paid&utm_campaign={campaign}"
    return f"{labels}&ad_platform={slug}&campaign_id={campaign}&ad_set_id={ad_set}&ad_id={ad}"


def _parts(landing_url: str | None) -> tuple[str, str]:
    try:
        split = urlsplit(landing_url or "")
    except ValueError:
        return "", ""
    return split.query, split.fragment


def _pairs(query: str) -> list[tuple[str, str]]:
    return [_read(pair) for pair in query.split("&") if pair]


def _read(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    # a plus sign stays one: phone numbers are put into links with it
    return unquote(name).lower(), unquote(value).strip()


def _macros(platform: str, is_asset_group: bool) -> tuple[str, str, str]:
    return ASSET_GROUP_MACROS if is_asset_group else MACROS.get(platform, UNKNOWN_MACROS)


def _names_ad(platform: str, value: str, ad_id: str, own: str) -> bool:
    # a literal id is right on its own ad only: copied to another, it credits the wrong one
    if value == ad_id:
        return True
    # a macro that becomes something else, an ad set's id or a name, names no ad; of an unknown one nobody knows
    others = _EXPANDED.get(platform, set()) - {own}
    return any(macro not in others for macro in _MACRO.findall(value))


def _left_over(platform: str, value: str) -> bool:
    known = _EXPANDED.get(platform)
    if platform == "google":
        value = _OF_GOOGLE.sub("", value)
    return known is not None and any(macro not in known for macro in _MACRO.findall(value))


def _is_personal(name: str, value: str) -> bool:
    if not value or _MACRO.fullmatch(value):
        return False
    return name in _PERSONAL_NAMES or bool(_EMAIL.search(value)) or bool(_PHONE.fullmatch(value))


def _hidden(pair: str) -> str:
    return f"{pair.partition('=')[0]}={HIDDEN}" if _is_personal(*_read(pair)) else pair
