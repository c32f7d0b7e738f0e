"""The demo's shop, asked of the sandbox that runs beside this deployment."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from api import errors
from touchledger.settings import Settings

PATIENCE_SECONDS = 30.0
RETRY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Shop:
    """A business with accounts to connect and files to load, by `<data set>/<name>`."""

    name: str
    timezone: str
    currency: str
    own_domains: Sequence[str]
    payment_hosts: Sequence[str]
    accounts: Sequence[Mapping[str, str]]
    files: Mapping[str, bytes]


def ask(settings: Settings) -> Shop:
    """What the sandbox says of its shop; 503 service_unavailable where none runs."""
    try:
        # the sandbox is on this machine: a proxy of the environment is none of its
        response = httpx.get(f"{settings.sandbox_url}/__sandbox__/shop", timeout=PATIENCE_SECONDS, trust_env=False)
        told: dict[str, Any] = response.raise_for_status().json()
        files = {name: base64.b64decode(content) for name, content in told.pop("files").items()}
        return Shop(**told, files=files)
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as problem:
        raise errors.SERVICE_UNAVAILABLE(
            "The demo's sandbox does not run beside this deployment.", headers={"Retry-After": str(RETRY_SECONDS)}
        ) from problem
