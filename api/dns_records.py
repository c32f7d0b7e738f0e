"""What a domain's DNS says, asked of the configured resolver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dns.exception
import dns.resolver

from api import errors
from touchledger.settings import Settings

TIMEOUT_SECONDS = 5.0
RETRY = {"Retry-After": "30"}
# registries that sell names one level down, under the endings of countries
SOLD_BELOW_TEXT = "ac co com edu go gob gouv gov ltd mil ne net nhs nom or org plc sch"
SOLD_BELOW = frozenset(SOLD_BELOW_TEXT.split())
# hosts below which every name is somebody else's
SHARED_TEXT = """
    azurewebsites.net blogspot.com cloudfront.net fly.dev github.io gitlab.io herokuapp.com myshopify.com netlify.app
    onrender.com pages.dev vercel.app web.app wixsite.com wordpress.com workers.dev
"""
SHARED = frozenset(SHARED_TEXT.split())


def is_public_suffix(domain: str) -> bool:
    """Whether names directly below `domain` belong to different people, so that it is nobody's to send under."""
    labels = domain.split(".")
    if len(labels) < 2 or domain in SHARED:
        return True
    return len(labels) == 2 and len(labels[1]) == 2 and labels[0] in SOLD_BELOW


def texts(settings: Settings, name: str) -> Sequence[str]:
    """The TXT records of a name, if any; 503 service_unavailable when the resolver gives no answer."""
    try:
        answer = _resolver(settings).resolve(f"{name}.", "TXT", search=False)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    except (dns.exception.DNSException, OSError) as problem:
        raise errors.SERVICE_UNAVAILABLE("DNS gave no answer; try again later.", headers=RETRY) from problem
    return [b"".join(row.strings).decode("ascii", "replace") for row in answer]


def _resolver(settings: Settings) -> dns.resolver.Resolver:
    resolver = dns.resolver.Resolver(configure=settings.dns_resolver is None)
    if settings.dns_resolver is not None:
        host, _, port = settings.dns_resolver.rpartition(":")
        nameservers: list[Any] = [host.strip("[]")]
        resolver.nameservers, resolver.port = nameservers, int(port)
    resolver.lifetime = TIMEOUT_SECONDS
    resolver.use_edns(0, 0, 1232)
    return resolver
