"""Writes `api/examples.json`: builds the demo in a folder of its own, and asks it everything. Takes two minutes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import orjson

from api import examples
from tests.end_to_end.command import Deployment, free_port
from tests.factories.deployments import settings_of
from tests.recording.deployment import placed
from tests.recording.walk import recorded

PARTS = ("request", "answers", "refusals")


def main() -> None:
    """Record anew, each operation on a line of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home, copy = Path(folder) / "demo", Path(folder) / "copy"
        # sealed columns read the settings of the process
        os.environ |= {"TOUCHLEDGER_TOKEN_KEY": "of tests", "TOUCHLEDGER_HOME": str(copy)}
        Deployment(home, {"SANDBOX_PORT": str(free_port())}).run("up", "--once")
        with placed(settings_of(home), copy) as place:
            examples.RECORDED.write_bytes(written(recorded(place)))


def written(kept: dict[str, dict[str, Any]]) -> bytes:
    """The bytes of the file, whatever came first."""
    told = {name: {part: kept[name][part] for part in PARTS if part in kept[name]} for name in sorted(kept)}
    lines = [orjson.dumps(name) + b": " + orjson.dumps(parts) for name, parts in told.items()]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


if __name__ == "__main__":
    main()
