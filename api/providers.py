"""The providers that an account can be connected at, and what each knows this deployment as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from api import errors
from connectors import apps, google_api
from connectors.authorizing import BY_TOKEN
from connectors.grants import Client
from connectors.meta_graph import VERSION
from touchledger.settings import Settings

RETRY = {"Retry-After": "60"}
PATIENCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Spoken:
    """A provider: our word for it, the kind of its accounts, the sandbox's face and the page there.

    `real_page` and `real_url` are its own, for those that a deployment can have an app at.
    """

    ours: str
    kind: str
    face: str
    page: str
    real_page: str = ""
    real_url: str = ""


_DIALOG = f"{VERSION}/dialog/oauth"
_TIKTOK = "https://business-api.tiktok.com"
# by what the interface calls each
SPOKEN: Mapping[str, Spoken] = {
    "meta": Spoken(
        *("meta", "ad_platform", "meta", _DIALOG), f"https://www.facebook.com/{_DIALOG}", "https://graph.facebook.com"
    ),
    "tiktok": Spoken("tiktok", "ad_platform", "tiktok", "portal/auth", f"{_TIKTOK}/portal/auth", _TIKTOK),
    "google": Spoken(
        *("google", "ad_platform", "google", "o/oauth2/v2/auth"),
        "https://accounts.google.com/o/oauth2/v2/auth",
        google_api.LIVE,
    ),
    "chatapp": Spoken("chatapp", "messaging", "meta", _DIALOG),
    "shopify": Spoken("shopify", "store", "shopify", "admin/oauth/authorize"),
    "payments": Spoken("stripe", "payments", "stripe", "oauth/authorize"),
}


def client(settings: Settings, provider: str) -> Client:
    """What `provider` (in the interface's words) knows this deployment as; 503 service_unavailable for nothing."""
    if provider in SPOKEN:
        found, own = SPOKEN[provider], apps.own(settings, provider)
        if own is not None:
            return _client(found, own, found.real_page, found.real_url, is_sandbox=False)
        if settings.connect_sandbox == "on":
            base_url = f"{settings.sandbox_url}/{found.face}"
            return _client(found, apps.OF_SANDBOX, f"{base_url}/{found.page}", base_url, is_sandbox=True)
    raise errors.SERVICE_UNAVAILABLE(_why_not(SPOKEN.get(provider)), headers=RETRY)


def _why_not(found: Spoken | None) -> str:
    if found is not None and found.real_url:
        return "This deployment has no app at this provider."
    if found is not None and found.ours in BY_TOKEN:
        return "The deployment's operator connects these by `touchledger connect`."
    return "No account of this provider can be connected."


def _client(found: Spoken, app: apps.App, page: str, base_url: str, *, is_sandbox: bool) -> Client:
    return Client(
        found.ours, app.client_id, app.client_secret, page, base_url, is_sandbox, developer_token=app.developer_token
    )


def require_up(asked: Client, settings: Settings) -> None:
    """503 service_unavailable when the sandbox is what people would be sent to, and it does not run."""
    if not asked.is_sandbox:
        return
    try:
        # the sandbox is on this machine: a proxy of the environment is none of its
        health = f"{settings.sandbox_url}/__sandbox__/health"
        httpx.get(health, timeout=PATIENCE_SECONDS, trust_env=False).raise_for_status()
    except httpx.HTTPError:
        raise errors.SERVICE_UNAVAILABLE("The sandbox does not run beside this deployment.", headers=RETRY) from None


def back_to(settings: Settings, provider: str) -> str:
    """Where the provider sends people back to."""
    return f"{settings.base_url}/connect/{provider}/callback"
