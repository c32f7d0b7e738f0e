"""What makes Dagster begin a step anew."""

from __future__ import annotations

import dagster as dg
import pytest

from orchestration.assets.tried_again import tried_again


def test_a_fault_of_our_own_is_tried_again_once() -> None:
    fault = OSError("no space left on device")
    with pytest.raises(dg.RetryRequested) as asked, tried_again(0):
        raise fault
    assert asked.value.max_retries == 1
    assert asked.value.__cause__ is fault

    with pytest.raises(OSError, match="no space left"), tried_again(1):
        raise fault


def test_who_is_told_to_stop_is_not_begun_anew() -> None:
    with pytest.raises(KeyboardInterrupt), tried_again(0):
        raise KeyboardInterrupt
