"""The manifest Dagster reads: whole, whatever became of the dbt command that ran last."""

from __future__ import annotations

import json
from pathlib import Path

from orchestration.dbt_manifest import ensure_manifest, target
from touchledger.settings import Settings


def test_a_manifest_that_a_killed_dbt_left_half_written_is_not_read(home: Path) -> None:
    # a build killed while dbt wrote its manifest made every later command end with a JSON error
    settings = Settings(home=home)
    ensure_manifest(settings)
    (target(settings) / "manifest.json").write_text('{"nodes": {')
    assert json.loads(ensure_manifest(settings).read_text())["nodes"]
