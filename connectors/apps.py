"""The apps that providers know a deployment as."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import SecretStr

from touchledger.settings import Settings


@dataclass(frozen=True, slots=True)
class App:
    """One app; `developer_token` is what Google wants beside it."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    developer_token: str = field(default="", repr=False)


OF_SANDBOX = App("touchledger", "touchledger-sandbox", "sandbox-developer-token")


def own(settings: Settings, provider: str) -> App | None:
    """The deployment's own app at a provider; None unless all of it is configured."""
    configured: dict[str, tuple[str | None, *tuple[SecretStr | None, ...]]] = {
        "meta": (settings.meta_app_id, settings.meta_app_secret),
        "google": (settings.google_client_id, settings.google_client_secret, settings.google_developer_token),
        "tiktok": (settings.tiktok_app_id, settings.tiktok_app_secret),
    }
    client_id, *hidden = configured.get(provider, (None,))
    secrets = [one.get_secret_value() for one in hidden if one]
    return App(client_id, *secrets) if client_id and len(secrets) == len(hidden) else None


def at(settings: Settings, provider: str, *, is_sandbox: bool) -> App:
    """The app to speak as, one without anything where none is configured."""
    return OF_SANDBOX if is_sandbox else own(settings, provider) or App()
