"""A writer must not outlive the run that started it: a killed run leaves no process behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

# names to a process the pid of the one that starts it, which may be gone before it can look
PARENT_VARIABLE = "TOUCHLEDGER_PARENT_PID"
PR_SET_PDEATHSIG = 1
POLL_SECONDS = 0.5


def die_with_parent(parent: int | None = None, *, by: signal.Signals = signal.SIGKILL) -> None:
    """Make the kernel send `by` to this process when its parent ends; elsewhere than on Linux, watch the parent.

    `parent` is the pid that started us, if known: one that is already gone ends this process at once.
    """
    parent = parent or os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, by)
    else:
        threading.Thread(target=_watch, args=(parent, by), daemon=True).start()
    if os.getppid() != parent:
        os.kill(os.getpid(), by)


def _watch(parent: int, by: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), by)
