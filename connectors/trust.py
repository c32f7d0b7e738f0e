"""Whom the clients of this process trust, and where they go without a proxy."""

from __future__ import annotations

import ssl
from functools import cache

import httpx

_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


@cache
def trust() -> ssl.SSLContext:
    """The authorities that this machine trusts, read once: that takes longer than a request on loopback.

    Live calls and files have a client each.
    """
    return httpx.create_ssl_context()


def past_proxies() -> dict[str, httpx.BaseTransport | None]:
    """The mounts of a client that asks this machine itself and no proxy for what is here."""
    return dict.fromkeys(_LOOPBACK, httpx.HTTPTransport(verify=trust()))
