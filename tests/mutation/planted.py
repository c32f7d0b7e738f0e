"""A pytest plugin: one module is imported from a text of ours instead of its file (named by MUTANT_*)."""

from __future__ import annotations

import os
import sys
import types
from importlib.machinery import ModuleSpec
from pathlib import Path


class Planted:
    """Finds and loads that one module."""

    def __init__(self, module: str, source: Path) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, origin=str(self.source)) if name == self.module else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self.source.read_text(), str(self.source), "exec"), module.__dict__)


sys.meta_path.insert(0, Planted(os.environ["MUTANT_MODULE"], Path(os.environ["MUTANT_SOURCE"])))  # type: ignore[arg-type]
