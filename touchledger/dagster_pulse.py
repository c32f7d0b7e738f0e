"""Whether Dagster, whose processes all run, can begin a run: its code may be gone, or its daemon stand still."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

LOOK_SECONDS = 60.0
# a look of the daemon takes up to a minute for each sensor
SILENT_SECONDS = 600.0
# it is asked without TLS; httpx would read all authorities for each look, 0.7 MB that wait for a search for garbage
_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ASKED = """{
  workspaceOrError { ... on Workspace {
    locationEntries { name locationOrLoadError { ... on PythonError { message } } }
  } }
  repositoriesOrError { ... on RepositoryConnection { nodes {
    sensors { sensorState { ticks(limit: 1) { timestamp } } }
  } } }
  instance { daemonHealth { allDaemonStatuses { daemonType required lastHeartbeatTime } } }
}"""


@dataclass
class Pulse:
    """Dagster at `address`, looked at every `every` seconds; what one look finds may pass, what two find is told."""

    address: str
    every: float = LOOK_SECONDS
    _found: str | None = None
    _told: str | None = None
    _due: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._due += self.every

    def trouble(self) -> str | None:
        """Why nothing begins by itself, when that is news; None also between two looks."""
        if time.monotonic() < self._due:
            return None
        before, self._found = self._found, trouble_of(self.address)
        self._due = time.monotonic() + self.every
        if self._found is None:
            self._told = None
        if self._found is None or self._found != before or self._found == self._told:
            return None
        self._told = self._found
        return self._told


def trouble_of(address: str) -> str | None:
    """What Dagster's own pages say that it lacks, or None; that they do not answer is a trouble too."""
    try:
        told = _asked(address)["data"]
        entries = told["workspaceOrError"]["locationEntries"]
        beats = told["instance"]["daemonHealth"]["allDaemonStatuses"]
        looks = _looks(told["repositoriesOrError"])
    except (httpx.HTTPError, ValueError, TypeError, KeyError):
        return "its pages do not answer"
    for entry in entries:
        if message := (entry["locationOrLoadError"] or {}).get("message"):
            return f"it cannot reach the code of {entry['name']} ({message.strip().rpartition('Error: ')[2]})"
    at = time.time()
    silent = [one["daemonType"] for one in beats if one["required"] and _is_silent(one["lastHeartbeatTime"], at)]
    if silent:
        return f"its daemon was not heard of for ten minutes ({', '.join(sorted(silent))})"
    return _waits(max(looks, default=at), at)


def _looks(told: dict[str, Any]) -> list[float]:
    # of code that cannot be reached there is none
    sensors = [one for node in told.get("nodes", ()) for one in node["sensors"]]
    return [tick["timestamp"] for one in sensors for tick in one["sensorState"]["ticks"]]


def _waits(look: float, at: float) -> str | None:
    if look - at <= SILENT_SECONDS:
        return None
    until = datetime.fromtimestamp(look, UTC).isoformat(timespec="seconds")
    return f"the clock was set back, and it waits until {until}; end this command and begin it anew"


def _is_silent(beat: float | None, at: float) -> bool:
    return beat is not None and at - beat > SILENT_SECONDS


def _asked(address: str) -> Any:
    # no proxy that the environment names stands between this machine and itself
    answer = httpx.post(
        f"{address}/graphql", json={"query": ASKED}, timeout=10, trust_env=False, verify=_NO_AUTHORITIES
    )
    return answer.raise_for_status().json()
