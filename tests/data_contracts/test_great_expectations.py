"""Great Expectations as contracts use it, and whole for who asks it for more."""

from __future__ import annotations

import json
import subprocess
import sys

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
