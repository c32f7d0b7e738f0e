"""How the cluster of the parity run is waited for; that it runs is in `make spark-parity`."""

from __future__ import annotations

import json

from benchmarks.spark_cluster import _wait


def test_a_master_that_listens_but_has_no_page_yet_is_asked_again() -> None:
    # on a busy machine the run ended with an error of JSON before anything was built
    answers = iter(["", "{}"])
    _wait(lambda: json.loads(next(answers)) == {})
    assert list(answers) == []
