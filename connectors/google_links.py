"""Where an ad of Google's leads, and what Google adds to its links on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connectors.ad_platform import Row


def url_tags(row: Row) -> str | None:
    """The parameters that reach the site: of suffix and template each the one nearest to the ad.

    A template that leads over another site first appends nothing to ours. An asset group has none of its own.
    """
    shown = (row.get("adGroupAd") or {}).get("ad") or {}
    nodes = (shown, row.get("adGroup") or {}, row.get("campaign") or {}, row.get("customer") or {})
    suffix = next((str(node["finalUrlSuffix"]) for node in nodes if node.get("finalUrlSuffix")), "")
    template = next((str(node["trackingUrlTemplate"]) for node in nodes if node.get("trackingUrlTemplate")), "")
    ours = template.removeprefix("{lpurl}") if template.startswith("{lpurl}") else ""
    found = "&".join(part for part in (ours.lstrip("?&"), suffix.lstrip("?&")) if part)
    return found or None


def landing(shown: Mapping[str, Any]) -> str | None:
    """The first of the addresses of an ad or an asset group."""
    urls = shown.get("finalUrls") or []
    return str(urls[0]) if urls else None
