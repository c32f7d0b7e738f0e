"""Load on an HTTP server: closed with wrk, open at an even rate, and one request after another; and what it cost.

A question is the whole text of a GET request. What the server spent is read from the kernel, so that it stays a fair
figure on a machine that does other work too.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TICK = os.sysconf("SC_CLK_TCK")
# wrk asks for the next line each time; the callback on answers would cost it half of its speed
SCRIPT = """
local paths, keys, tags, at = {}, {}, {}, 0
function init(args)
  for line in io.lines(args[1]) do
    local path, key, tag = line:match("([^\\t]*)\\t([^\\t]*)\\t(.*)")
    table.insert(paths, path); table.insert(keys, key); table.insert(tags, tag)
  end
  at = tonumber(args[2])
end
function request()
  at = at % #paths + 1
  local headers = {["Authorization"] = "Bearer " .. keys[at]}
  if tags[at] ~= "" then headers["If-None-Match"] = tags[at] end
  return wrk.format("GET", paths[at], headers)
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "max": %d, ',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max))
  io.write(string.format('"refused": %d, "broken": %d}\\n', e.status, e.connect + e.read + e.write + e.timeout))
end
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A path with its query, the key it is asked with, and the tag of an answer the asker holds already."""

    path: str
    key: str
    tag: str = ""

    def wire(self, host: str) -> bytes:
        known = f"If-None-Match: {self.tag}\r\n" if self.tag else ""
        return f"GET {self.path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {self.key}\r\n{known}\r\n".encode()


@dataclass
class Answered:
    """Milliseconds of every answer and how many came with each status; 0 stands for a broken connection."""

    milliseconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def told(self, seconds: float) -> dict[str, Any]:
        p50, p99 = (round(float(one), 2) for one in np.percentile(self.milliseconds or [0], [50, 99]))
        return {
            "requests per second": round(len(self.milliseconds) / seconds, 1),
            "p50 ms": p50,
            "p99 ms": p99,
            "max ms": round(max(self.milliseconds, default=0), 2),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }


def closed(
    questions: Sequence[Question], *, address: str, folder: Path, connections: int, seconds: int, begin: int
) -> dict[str, Any]:
    """As many requests as the server answers over so many connections, by one thread of wrk."""
    script, lines = folder / "questions.lua", folder / "questions.tsv"
    script.write_text(SCRIPT)
    lines.write_text("".join(f"{one.path}\t{one.key}\t{one.tag}\n" for one in questions))
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(script)]
    done = subprocess.run(  # noqa: S603 - our own command, no shell
        [*command, f"http://{address}", "--", str(lines), str(begin)], capture_output=True, text=True, check=True
    )
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith('{"requests"')))
    return {
        "requests": found["requests"],
        "requests per second": round(found["requests"] / found["microseconds"] * 1e6, 1),
        "p50 ms": found["p50"] / 1000,
        "p99 ms": found["p99"] / 1000,
        "max ms": found["max"] / 1000,
        "errors": found["refused"] + found["broken"],
    }


def in_turn(questions: Sequence[Question], *, address: str) -> Answered:
    """One request after another on one connection."""
    answered = Answered()
    with Line(address) as line:
        for question in questions:
            begun = time.perf_counter()
            line.send(question)
            while (status := line.receive()) is None:
                pass
            answered.milliseconds.append((time.perf_counter() - begun) * 1000)
            answered.statuses[status] += 1
    return answered


def opened(questions: Sequence[Question], *, address: str, connections: int, per_second: float) -> Answered:
    """Each request is due when it is due, whatever became of the one before; its time runs from then."""
    answered, waiting = Answered(), deque(enumerate(questions))
    lines = [Line(address) for _ in range(connections)]
    idle, busy, begun = deque(lines), {}, time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line.socket, selectors.EVENT_READ, line)
        while waiting or busy:
            now = time.perf_counter() - begun
            while idle and waiting and waiting[0][0] / per_second <= now:
                number, question = waiting.popleft()
                line = idle.popleft()
                busy[line] = number / per_second
                line.send(question)
            until = waiting[0][0] / per_second - now if waiting and idle else 1.0
            for key, _ in selector.select(max(until, 0)):
                line = key.data
                if (status := line.receive()) is not None:
                    due = busy.pop(line)
                    answered.milliseconds.append((time.perf_counter() - begun - due) * 1000)
                    answered.statuses[status] += 1
                    idle.append(line)
    for line in lines:
        line.socket.close()
    return answered


class Line:
    """One kept connection; an answer is whole when as many bytes have come as it said."""

    def __init__(self, address: str) -> None:
        self.host = address
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head, self.body, self._came = "", b"", b""

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, question: Question) -> None:
        self._came = b""
        self.socket.sendall(question.wire(self.host))

    def receive(self) -> int | None:
        """The status of the answer, or None while it has not come whole. Raises ConnectionError when it never will."""
        more = self.socket.recv(1 << 18)
        if not more:
            raise ConnectionError("the server hung up before it answered")
        self._came += more
        head, found, body = self._came.partition(b"\r\n\r\n")
        if not found:
            return None
        self.head = head.decode("latin-1")
        status = int(self.head[9:12])
        if status != 304 and len(body) < int(self.header("content-length") or 0):
            return None
        self.body = body
        return status

    def header(self, name: str) -> str | None:
        """A header of the last answer."""
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None


def cpu_seconds(group: int) -> float:
    """What the processes of a group have spent so far, user and system."""
    return sum(spent / TICK for leader, spent in _processes() if leader == group)


def _processes() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(parts[2]), int(parts[11]) + int(parts[12])
