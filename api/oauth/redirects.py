"""Where an authorization may send a browser: https, or a program on the person's own machine."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
LONGEST = 2000
# what RFC 3986 lets a URI consist of; a browser reads "\" as "/" and drops tabs and line ends
WRITTEN = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")


def is_acceptable(uri: str) -> bool:
    """Whether the address may be registered: https, or http on loopback; nothing hidden in it, and no fragment."""
    parts = _split(uri)
    if parts is None:
        return False
    return parts.scheme == "https" or is_loopback(uri)


def is_loopback(uri: str) -> bool:
    """Whether the address is http on the person's own machine."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK


def is_registered(uri: str, registered: list[str]) -> bool:
    """Whether the address is one of the registered: letter by letter, but on loopback with any port."""
    if not is_acceptable(uri):
        return False
    if uri in registered:
        return True
    return is_loopback(uri) and _portless(uri) in {_portless(one) for one in registered if is_loopback(one)}


def host_of(uri: str) -> str:
    """The host for people to read, with the port if one is named."""
    return urlsplit(uri).netloc


def _split(uri: str) -> SplitResult | None:
    if len(uri) > LONGEST or not WRITTEN.fullmatch(uri):
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc or "#" in uri:
        return None
    return parts


def _portless(uri: str) -> tuple[str | None, str, str]:
    parts = urlsplit(uri)
    return parts.hostname, parts.path, parts.query
