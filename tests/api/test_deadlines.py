"""Promise: a query that takes too long, or too much, ends as 503 and leaves the snapshot readable."""

from __future__ import annotations

import time

import pytest

from api import errors
from api.deadlines import Deadlines
from api.snapshot import Snapshots
from tests.factories import served
from tests.factories.versions import number_in, version
from touchledger.settings import Settings

ENDLESS = "select count(*) from range(100000000000) where range % 7 = 3"


def test_a_query_past_its_deadline_is_service_unavailable(bare: Settings) -> None:
    served.publish(bare.published, version(1))
    hasty = Snapshots(bare.model_copy(update={"query_deadline_seconds": 0.3}))
    began = time.monotonic()
    with pytest.raises(errors.ApiError) as refusal, hasty.reader() as reader:
        assert reader
        reader.rows(ENDLESS)
    assert refusal.value.code is errors.SERVICE_UNAVAILABLE
    assert time.monotonic() - began > 0.2
    # a busy machine may take longer than that for any query
    hasty._deadlines = Deadlines(60)
    assert number_in(hasty) == 1
    hasty.close()


def test_a_deadline_that_passes_between_two_queries_still_holds(bare: Settings) -> None:
    served.publish(bare.published, version(1))
    hasty = Snapshots(bare.model_copy(update={"query_deadline_seconds": 0.05}))
    with pytest.raises(errors.ApiError) as refusal, hasty.reader() as reader:
        assert reader
        time.sleep(0.1)
        reader.rows("select 1")
    assert refusal.value.code is errors.SERVICE_UNAVAILABLE
    hasty.close()


def test_a_query_over_its_memory_is_service_unavailable(bare: Settings) -> None:
    served.publish(bare.published, version(1))
    small = Snapshots(bare.model_copy(update={"served_memory_limit": "20MB"}))
    with pytest.raises(errors.ApiError) as refusal, small.reader() as reader:
        assert reader
        reader.rows("select list(range) from range(20000000)")
    assert refusal.value.code is errors.SERVICE_UNAVAILABLE
    assert number_in(small) == 1
    small.close()
