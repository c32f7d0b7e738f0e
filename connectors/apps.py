"""The apps that providers know a deployment as."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import SecretStr

from touchledger.settings import Settings


@dataclass(frozen=True, slots=True)
class App:
    """One app; `developer_token` is what Google wanted beside it until September 2026, and takes since."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    developer_token: str = field(default="", repr=False)


OF_SANDBOX = App("touchledger", "touchledger-sandbox", "sandbox-developer-token")


def own(settings: Settings, provider: str) -> App | None:
    """The deployment's own app at a provider; None unless all of it is configured."""
    configured: dict[str, tuple[str | None, SecretStr | None]] = {
        "meta": (settings.meta_app_id, settings.meta_app_secret),
        "google": (settings.google_client_id, settings.google_client_secret),
        "tiktok": (settings.tiktok_app_id, settings.tiktok_app_secret),
    }
    client_id, secret = configured.get(provider, (None, None))
    if not client_id or not secret:
        return None
    beside = settings.google_developer_token if provider == "google" else None
    return App(client_id, secret.get_secret_value(), beside.get_secret_value() if beside else "")


def at(settings: Settings, provider: str, *, is_sandbox: bool) -> App:
    """The app to speak as, one without anything where none is configured."""
    return OF_SANDBOX if is_sandbox else own(settings, provider) or App()
