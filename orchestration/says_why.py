"""Why a run failed, in the first line: Dagster's pages begin with its own calls, and tell below them what it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import dagster as dg

Compute = TypeVar("Compute", bound=Callable[..., Any])


class NotBegunError(dg.DagsterError):
    """What keeps a run from its first step. All that is no error of Dagster's own is wrapped there."""


def says_why(compute: Compute) -> Compute:
    """The function of an asset; what it raises is raised as a `dg.Failure` of the same words, which come first."""

    @wraps(compute)
    def at_once(*args: Any, **kwargs: Any) -> Any:
        with told_as(dg.Failure):
            return compute(*args, **kwargs)

    @wraps(compute)
    def bit_by_bit(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with told_as(dg.Failure):
            yield from compute(*args, **kwargs)

    return cast("Compute", bit_by_bit if inspect.isgeneratorfunction(compute) else at_once)


@contextmanager
def told_as(kind: Callable[[str], Exception]) -> Iterator[None]:
    """Raise what is raised here as another kind, with its own name and words; what is for Dagster stays as it is."""
    try:
        yield
    except (dg.Failure, dg.RetryRequested):
        raise
    except Exception as problem:
        raise kind(f"{type(problem).__name__}: {problem}") from problem
