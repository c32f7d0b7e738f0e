"""Great Expectations without what only its expectation of a distribution needs, which no contract has."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import scipy

# GX calls home otherwise
os.environ.setdefault("GX_ANALYTICS_ENABLED", "False")


class _Later(ModuleType):
    """A module that is imported once something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


# scipy.stats and altair are two fifths of what its import costs, which is a tenth of a build with a few new rows
_stats, _altair = vars(scipy).get("stats"), sys.modules.get("altair")
scipy.stats = _stats or _Later("scipy.stats")
sys.modules["altair"] = _altair or _Later("altair")
try:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig
    from great_expectations.execution_engine import pandas_execution_engine
finally:
    if _stats is None:
        del scipy.stats
    if _altair is None:
        del sys.modules["altair"]

# every frame under so many bytes is hashed twice, value by value, for a fingerprint that nobody reads: two thirds of
# what judging a million touches costs
pandas_execution_engine.HASH_THRESHOLD = 0

__all__ = ["ProgressBarsConfig", "gx"]
