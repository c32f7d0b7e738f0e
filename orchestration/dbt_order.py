"""The order in which dbt takes the nodes that are ready: first what most of the build waits for.

dbt hands its threads every node as soon as it is ready, level by level. So all that is small and waits for nothing runs
first, and later chains of models run with an idle thread beside them. Here a thread is handed the node with the longest
chain behind it, and none before it is nearly free to take one.
"""

from __future__ import annotations

import sys
from graphlib import TopologicalSorter
from typing import Any


def longest_first() -> None:
    """Let this process's dbt prefer the longest chain."""
    from dbt.graph import selector
    from dbt.graph.queue import GraphQueue
    from dbt.task.runnable import GraphRunnableTask

    class LongestFirst(GraphQueue):
        in_hand = sys.maxsize

        def _get_scores(self, graph: Any) -> dict[str, int]:
            return scores({node: list(graph.successors(node)) for node in graph})

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            with self.some_task_done:
                self.some_task_done.wait_for(lambda: len(self.in_progress) < self.in_hand, timeout)
            return super().get(block, timeout)

    run = GraphRunnableTask.run_queue

    def run_queue(task: Any, pool: Any) -> None:
        # one more than threads, so that none of them waits until the next is handed out
        task.job_queue.in_hand = task.config.threads + 1
        run(task, pool)

    selector.GraphQueue = LongestFirst  # type: ignore[attr-defined]
    GraphRunnableTask.run_queue = run_queue  # type: ignore[assignment, method-assign]


def scores(after: dict[str, list[str]]) -> dict[str, int]:
    """A number for each node, of which the lowest goes first; `after` tells by node what waits for it."""
    found: dict[str, int] = {}
    for node in TopologicalSorter(after).static_order():
        found[node] = min((found[waiting] for waiting in after[node]), default=0) - 1
    return found
