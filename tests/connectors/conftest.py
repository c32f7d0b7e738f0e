"""A transport that keeps the waits it was told instead of waiting."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from connectors.apps import OF_SANDBOX
from connectors.google_ads import GoogleAds
from connectors.meta_ads import MetaAds
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Policy, Transport
from sandbox.faces import TOKENS
from sandbox.google_world import CUSTOMERS
from sandbox.tiktok_world import ADVERTISERS
from tests.fixtures.sandbox import TODAY, RunningSandbox

POLICY = Policy(attempts=4, longest_wait=120.0, first_backoff=0.01, longest_backoff=0.02, read_timeout=60.0)
SINCE = TODAY - timedelta(days=13)


@pytest.fixture
def slept() -> list[float]:
    """Every wait the transport asked for, in seconds."""
    return []


@pytest.fixture
def transport(slept: list[float]) -> Iterator[Transport]:
    with Transport(POLICY, sleep=slept.append) as made:
        yield made


@pytest.fixture
def meta(sandbox: RunningSandbox, transport: Transport) -> MetaAds:
    """The sandbox's first ad account."""
    return MetaAds(f"{sandbox.url}/meta", TOKENS["meta"], sandbox.world.accounts[0].id, transport)


@pytest.fixture
def tiktok(sandbox: RunningSandbox, transport: Transport) -> TikTokAds:
    """The sandbox's first advertiser at TikTok."""
    return TikTokAds(f"{sandbox.url}/tiktok", TOKENS["tiktok"], ADVERTISERS[0].id, transport)


@pytest.fixture
def google(sandbox: RunningSandbox, transport: Transport) -> GoogleAds:
    """The sandbox's first Google customer."""
    return GoogleAds(f"{sandbox.url}/google", TOKENS["google"], CUSTOMERS[0].id, transport, OF_SANDBOX)
