"""Where the commands `touchledger` and `touchledger-dbt` begin, and how their processes end: at once.

A build leaves a million objects, which Python would take apart before it ends: two of the 24 seconds of a small build,
and over a second in dbt's process. What must be closed (files, locks, connections, the warehouse) the command closes
itself or by `atexit`; all else goes with the process.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# DuckDB's allocator gives freed memory back after ten seconds and soon takes it again, cleared by the kernel page by
# page; of pages that are merely marked as free the kernel may take what it needs meanwhile
KEPT_WHEN_FREED = "dirty_decay_ms:20000,muzzy_decay_ms:30000"
# here, and not where endings are told: that is imported within reach of it
STOPPED = 128 + signal.SIGINT


def touchledger() -> None:
    """Run `touchledger` with this process's arguments."""
    with _ending_at_once():
        stand_in()
        from touchledger.cli import main

        atexit.register(_close)
        main()


def touchledger_dbt() -> None:
    """Run `touchledger-dbt` with this process's arguments."""
    # read when DuckDB is loaded, so before anything is imported that loads it; an operator's own wins
    os.environ.setdefault("DUCKDB_JE_MALLOC_CONF", KEPT_WHEN_FREED)
    with _ending_at_once():
        from orchestration.dbt_process import main

        main()


def stand_in() -> None:
    """Let standard streams that are closed lead nowhere: the next file that is opened would be one, as a database."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            # the lowest number that is free
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            setattr(sys, name, os.fdopen(number, mode))


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """What the block registers with `atexit` still runs, and what it raises is told as ever; Ctrl-C is no fault."""
    codes: list[object] = []
    # called last, for it is registered before anything is imported that registers its own
    atexit.register(_leave, codes)
    try:
        yield
    except SystemExit as ended:
        codes.append(ended.code)
        raise
    except KeyboardInterrupt:
        # pressed while modules are still imported; a command under way says what it left
        codes.append(STOPPED)
        raise SystemExit(STOPPED) from None
    else:
        codes.append(None)
    finally:
        _hear_no_more()


def _hear_no_more() -> None:
    """Let no signal that raises here cut off what is still closed: a second Ctrl-C ended in a traceback of that."""
    for one in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(one) is not signal.SIG_DFL:
            signal.signal(one, signal.SIG_IGN)


def _close() -> None:
    # SQLite's log goes with the last connection to the file; whoever opened one has imported what closes it
    if database := sys.modules.get("api.db"):
        database.close_all_engines()


def _leave(codes: list[object]) -> None:
    if not codes:
        # Python tells of the exception
        return
    (code,) = codes
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        # nobody reads any more, and Python ends with the code that says so
        return
    # with a text Python has told it, and ends with 1
    os._exit(code if isinstance(code, int) else int(code is not None))
