"""The ad platforms that are spoken to, by slug."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from connectors import apps
from connectors.ad_platform import Access, SyncedAdPlatform
from connectors.apps import App
from connectors.google_ads import GoogleAds
from connectors.meta_ads import MetaAds
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Transport
from touchledger.settings import Settings


def opened(settings: Settings, platform: str, access: Access, transport: Transport) -> SyncedAdPlatform:
    """One ad account of a platform of `PLATFORMS`, to be asked through `transport`."""
    return PLATFORMS[platform](access, apps.at(settings, platform, is_sandbox=access.is_sandbox), transport)


def _meta(access: Access, app: App, transport: Transport) -> SyncedAdPlatform:
    return MetaAds(
        access.base_url, access.token, access.account_id, transport,
        app_secret=app.client_secret, currency=access.currency,
    )  # fmt: skip


def _tiktok(access: Access, _: App, transport: Transport) -> SyncedAdPlatform:
    return TikTokAds(access.base_url, access.token, access.account_id, transport, currency=access.currency)


def _google(access: Access, app: App, transport: Transport) -> SyncedAdPlatform:
    return GoogleAds(
        access.base_url, access.token, access.account_id, transport, app,
        reached_through=access.reached_through, currency=access.currency,
    )  # fmt: skip


PLATFORMS: Mapping[str, Callable[[Access, App, Transport], SyncedAdPlatform]] = {
    "meta": _meta,
    "google": _google,
    "tiktok": _tiktok,
}
