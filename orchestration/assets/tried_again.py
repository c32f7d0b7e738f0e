"""A second try for a step that broke on a fault of our own: a database that was busy, a disk that was full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

WAIT_SECONDS = 30


@contextmanager
def tried_again(tries: int) -> Iterator[None]:
    """Have Dagster begin the step anew, once and after half a minute, when what is done here raises.

    `tries` is how often it was begun anew already.

    Not when it is told to stop: a retry policy of the asset takes that for a failure too, and the run goes on.
    """
    try:
        yield
    except Exception as problem:
        # asked for too often, Dagster says first that it was
        if tries:
            raise
        raise dg.RetryRequested(max_retries=1, seconds_to_wait=WAIT_SECONDS) from problem
