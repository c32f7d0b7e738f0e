"""gunicorn's worker of threads, which leaves a new connection to a worker that has none and lets what it imported be.

Workers wait on one listening socket, and whoever wakes first took all that came at once: of four connections opened
together one worker often had all four, and the other core idled for as long as they were kept.

What an application consists of stays to the worker's end. Every search of all objects for garbage went through it, and
the request that it fell to took 0.14 s longer.
"""

from __future__ import annotations

import atexit
import gc
import time
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# longer than another worker takes to wake, shorter than anybody notices when a connection is opened
HESITATION_SECONDS = 0.001


class Worker(ThreadWorker):  # type: ignore[misc]
    """Accepts at once while it has no connection, and else after workers that have none."""

    def load_wsgi(self) -> None:
        """Load the application, and leave all that is there by then out of searches for garbage."""
        super().load_wsgi()
        gc.collect()
        gc.freeze()
        # DuckDB's bindings would tell of each object that is still there at the end
        atexit.register(gc.unfreeze)

    def accept(self, listener: Any) -> None:
        """Accept a connection that waits at `listener`, a socket, unless another worker has by then."""
        if self.nr_conns and self.cfg.workers > 1:
            time.sleep(HESITATION_SECONDS)
        super().accept(listener)
