"""Great Expectations as contracts use it, and whole for who asks it for more."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from data_contracts import suite
from data_contracts.contract import load
from tests.data_contracts.records import judged, record

ASKED = """
import json, sys
import pandas as pd
from data_contracts.contract import landed
from data_contracts.suite import check_frame

contract = landed()["payment_payers"]
check_frame(contract, pd.DataFrame({column.name: ["x"] for column in contract.columns}))
held = [name for name in ("scipy.stats", "altair") if name in sys.modules]
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as of_a_distribution
import altair, scipy.stats
same = [of_a_distribution.stats.entropy is scipy.stats.entropy, of_a_distribution.alt.Chart is altair.Chart]
print(json.dumps([held, same]))
"""


def test_a_check_loads_no_statistics_and_no_charts_and_who_asks_has_them() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ASKED], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], [True, True]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:great_expectations")
def test_a_frame_is_not_hashed_for_a_fingerprint_that_nobody_reads() -> None:
    rows = pd.DataFrame(judged("conversions", record("conversions")).rows)
    assert suite.check_frame(load("conversions"), rows)[0]
    asset = next(asset for asset in suite._frames().assets if asset.name.endswith(" conversions"))
    batch = asset.batch_definitions[0].get_batch({"dataframe": rows})
    assert "pandas_data_fingerprint" not in batch.data.execution_engine.batch_manager.active_batch_markers
