"""A profile's ad accounts, asked and changed while somebody waits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from api import connections, errors
from api.ad_entities import Named
from api.models import Connection
from connectors.ad_platform import LiveAdPlatform, LiveState
from connectors.ad_platforms import PLATFORMS, opened
from touchledger.settings import Settings

KIND = "ad_platform"
# seconds; a search, a change and another look together stay under the minute after which an attempt counts as abandoned
SEARCH, CHANGE, LOOK_AGAIN = 20.0, 20.0, 10.0


@dataclass(frozen=True, slots=True)
class Found:
    """Something on a platform as it is now, and the connection to the account that it is in."""

    connection: Connection
    state: LiveState


def accounts(settings: Settings, *, profile_id: str, platform: str | None = None) -> list[Connection]:
    """The profile's ad accounts, on one platform or all, in any state."""
    found = connections.of_profile(settings.operational_url, profile_id=profile_id, kind=KIND)
    return [one for one in found if one.provider in PLATFORMS and platform in (None, one.provider)]


@contextmanager
def asking(
    settings: Settings, connection: Connection, *, within: float, writes: bool = False
) -> Iterator[LiveAdPlatform]:
    """One account, for at most `within` seconds; what goes wrong leaves as an ApiError (`connections.asking`)."""
    with connections.asking(settings, connection, within=within, writes=writes) as transport:
        yield opened(settings, connection.provider, connection.access, transport)


def find(settings: Settings, *, profile_id: str, target: Named) -> Found | None:
    """Where `target` is and what it is now; None when no account of the profile has it.

    Every account that can be asked is, until one has it. An account that could not be asked may have it: then its
    refusal is raised rather than nothing found. 409 platform_connection_required when there is no account at all.
    """
    every = accounts(settings, profile_id=profile_id, platform=target.platform)
    if not every:
        raise errors.PLATFORM_CONNECTION_REQUIRED()
    ready = connections.usable(settings, every)
    ends_at, failed = time.monotonic() + SEARCH, None
    for connection in ready:
        try:
            with asking(settings, connection, within=ends_at - time.monotonic()) as platform:
                state = platform.state(target.level, target.platform_id)
        except errors.ApiError as refusal:
            failed = failed or refusal
            continue
        # one token may open accounts of other clients too: theirs are nobody's here
        if state is not None and state.account_id == connection.external_account_id.removeprefix("act_"):
            return Found(connection, state)
    if failed is None:
        lost = next((one for one in every if one.status == "reconnect_required"), None)
        failed = connections.revoked(settings, lost) if lost else None
    if failed is not None:
        raise failed
    return None
