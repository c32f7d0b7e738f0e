"""A person taken out of the lake, whatever lies there."""

from __future__ import annotations

import pyarrow.parquet as pq

from orchestration.erased_lake import rewrite_lake
from orchestration.lake import Lake
from tests.orchestration.test_erased_files import ADA, ada
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import lake
from tests.orchestration.test_lake import BAD, land, touches

__all__ = ["lake"]


def test_a_batch_of_which_no_row_is_good_hinders_nobody(lake: Lake) -> None:
    landed = land(lake, touches("a", email=ADA, **BAD), profile_id=PROFILE)
    assert rewrite_lake(lake, ada(), {"email": [ADA]}) == {"touches": 1}
    assert landed.quarantine is not None
    assert ADA not in pq.read_table(landed.quarantine)["record"][0].as_py()
