"""What a result must say of where it was taken: cores, memory, processor, versions, and how busy the machine was."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine(*packages: str) -> dict[str, Any]:
    """The machine as far as it decides a figure; no name of it."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "processor": _processor(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("duckdb", *packages)},
        "load_average": round(os.getloadavg()[0], 1),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def keep(name: str, result: dict[str, Any]) -> Path:
    """Write a result where the results are."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    return path


def kept(pattern: str) -> list[dict[str, Any]]:
    """Results whose file names fit, in the order of names."""
    return [json.loads(path.read_text()) for path in sorted(RESULTS.glob(pattern))]
