"""What the check `connections` tells of many that did not come."""

from __future__ import annotations

import dagster as dg

from orchestration.assets.connections_check import NAMED, connections_check
from orchestration.resources import Deployment
from tests.factories import accounts, exports
from touchledger.settings import Settings


def test_the_first_are_named_in_a_line_and_all_in_a_table(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    for _ in range(NAMED + 3):
        exports.connection(settings.operational_url, profile, status="reconnect_required")
    verdict = connections_check(Deployment(), "ad_platform", [])
    assert verdict.description is not None
    line = verdict.description.split("; ")
    assert (len(line), line[0].split(":")[0], line[-1]) == (
        NAMED + 1,
        f"{NAMED + 3} of {NAMED + 3} did not come",
        "and 3 more",
    )
    (table,) = verdict.metadata.values()
    assert isinstance(table, dg.TableMetadataValue) and len(table.records) == NAMED + 3
