"""What a piece of work costs its process. Uses the standard library alone, for peers live in another environment."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Cost:
    """Wall and CPU seconds of the work, the most memory its process ever held, and what the work told."""

    wall: float
    cpu: float
    peak_mb: int
    told: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """The cost as one line of JSON, for the process that asked."""
        return json.dumps({"wall": self.wall, "cpu": self.cpu, "peak_mb": self.peak_mb, "told": self.told})


def metered(work: Callable[[], Mapping[str, Any] | None]) -> Cost:
    """Do the work and tell what it cost; CPU is that of all threads of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    told = work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu, peak_mb(), dict(told or {}))


def peak_mb() -> int:
    """Most memory this process held. Not getrusage, which counts what the parent held at the fork."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    raise RuntimeError("the kernel does not tell the peak of memory")


class ContestantError(RuntimeError):
    """A contestant did not end well; the text is the end of what it wrote."""


def run(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Run a contestant in a process of its own; its last line of output is its cost."""
    done = subprocess.run(  # noqa: S603 - our own command, no shell
        command, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ContestantError(f"{command[-1]}\n{done.stderr[-2000:]}")
    return Cost(**json.loads(done.stdout.strip().splitlines()[-1]))


def interleaved(contestants: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, Cost]:
    """Every contestant once a round, so that a busy minute of the machine meets all of them; the medians."""
    runs: dict[str, list[Cost]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            runs[name].append(contestant())
    return {name: middle(costs) for name, costs in runs.items()}


def middle(costs: Sequence[Cost]) -> Cost:
    """Medians of wall, CPU and memory; what was told is the last run's."""
    return Cost(
        round(median(cost.wall for cost in costs), 3),
        round(median(cost.cpu for cost in costs), 3),
        int(median(cost.peak_mb for cost in costs)),
        costs[-1].told,
    )
