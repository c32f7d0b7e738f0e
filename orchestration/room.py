"""Room on a disk that is short: a half-made warehouse, which nobody publishes, keeps none of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from orchestration import durable
from orchestration.spark_run import LeftBehindError
from orchestration.warehouse_state import is_finished, is_left_unfinished
from touchledger.settings import SPARE_BYTES, Settings


@contextmanager
def leaving_room(settings: Settings) -> Iterator[None]:
    """Drop the warehouse where the block raises and the disk is short: half made, it would keep the API from writing.

    Nobody publishes it, and the next build makes all of it anew.
    """
    try:
        yield
    except BaseException:
        if _is_short(settings):
            _drop(settings)
        raise


def make_room(settings: Settings) -> None:
    """The same for what a build that was killed has left, unless one is at work. Raises OSError."""
    # whoever is at work wants its locks: they are had only where there is something to drop
    if not (_is_short(settings) and is_left_unfinished(settings)):
        return
    locks = [settings.home / "locks" / f"{name}.lock" for name in ("warehouse", "dbt")]
    locks[0].parent.mkdir(exist_ok=True)
    with ExitStack() as held:
        # nothing is written into them: there may be no room for it
        alone = [held.enter_context(durable.exclusive(lock, wait=False)) for lock in locks]
        # looked at again by who is alone; its own locks are others' to that look
        if all(alone) and not is_finished(settings):
            with suppress(LeftBehindError):
                _drop(settings)


def _is_short(settings: Settings) -> bool:
    return shutil.disk_usage(settings.home).free <= SPARE_BYTES


def _drop(settings: Settings) -> None:
    # what serves looks once a minute, and needs nothing else of it
    from orchestration.erasure import drop_warehouse

    drop_warehouse(settings)
