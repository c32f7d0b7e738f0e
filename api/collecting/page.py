"""What the address of a page tells: its host, and the campaign parameters of a visit that lands on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from api.click_ids import CLICK_IDS
from api.link_tokens import QUERY_PARAMETER
from data_contracts.formats import Refused, identifier
from data_contracts.values import clean_text

UTM = ("source", "medium", "campaign", "content", "term", "id")
# the names of each id, the one that counts first
AD_IDS = {
    "ad_id": ("ad_id",),
    "ad_set_id": ("ad_set_id", "adset_id", "adgroup_id"),
    "campaign_id": ("campaign_id",),
}
LONGEST_ID, LONGEST_LABEL, LONGEST_CLICK, LONGEST_HOST = 128, 255, 1024, 255
MOST_FIELDS = 200
_LONG_HOST = re.compile(r"[^/?#]{1000}")
_PLATFORM = re.compile("[a-z0-9_]{2,32}")


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a visit's landing page was linked with; `ad` has the columns of the set touches."""

    ad: Mapping[str, str] = field(default_factory=dict)
    utm: Mapping[str, str] = field(default_factory=dict)
    click_ids: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.ad or self.utm or self.click_ids)


@dataclass(frozen=True, slots=True)
class Page:
    """A page's host, the parameters in its address, and the link token there."""

    host: str
    parameters: Parameters
    token: str | None


def page_of(address: str) -> Page:
    """What an http(s) address tells. Raises ValueError for any other text."""
    host = host_of(address)
    parts = urlsplit(address if host else "")
    if parts.scheme.lower() not in ("http", "https") or host is None:
        raise ValueError("not an address of a page")
    given: dict[str, str] = {}
    for name, value in parse_qsl(parts.query, max_num_fields=MOST_FIELDS):
        # what no record may hold is as if it were not there, and the visit stays
        with suppress(Refused):
            given.setdefault(name.lower(), clean_text(value))
    return Page(host, _parameters(given), given.get(QUERY_PARAMETER))


def host_of(address: str) -> str | None:
    """The host of an address, in lower case and without its port; None for one that has none."""
    if not address.isascii() and _LONG_HOST.match(address.partition("//")[2]):
        # Python looks for letters that are "/" in another form, which takes it minutes where a host has very many marks
        return None
    try:
        host = (urlsplit(address.strip()).hostname or "").rstrip(".")
    except ValueError:
        return None
    return host if host and len(host) <= LONGEST_HOST and "\0" not in host else None


def is_same_site(one: str, other: str) -> bool:
    """Whether two hosts are one, with or without www."""
    return one.removeprefix("www.") == other.removeprefix("www.")


def _parameters(given: Mapping[str, str]) -> Parameters:
    ad = {}
    platform = given.get("ad_platform", "").lower()
    if _PLATFORM.fullmatch(platform):
        ad["ad_platform"] = platform
    for column, names in AD_IDS.items():
        value = next((given[name] for name in names if given.get(name)), "")
        with suppress(Refused):
            if 0 < len(value) <= LONGEST_ID:
                ad[column] = identifier(value)
    return Parameters(
        ad=ad,
        utm={name: given[f"utm_{name}"][:LONGEST_LABEL] for name in UTM if given.get(f"utm_{name}")},
        click_ids={name: given[name] for name in CLICK_IDS if 0 < len(given.get(name, "")) <= LONGEST_CLICK},
    )
