"""The project's macros, rendered without dbt so that a test can try them on many values at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from orchestration.dbt_manifest import PROJECT


class _Adapter:
    def __init__(self, module: Any) -> None:
        self.module = module

    def dispatch(self, name: str) -> Any:
        return getattr(self.module, f"duckdb__{name}")


class _Answer(Exception):
    pass


def _answer(value: Any) -> Any:
    raise _Answer(value)


@cache
def _module(file: str) -> Any:
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    # a macro may call one of another file; the file named stands last, so that its own come first
    files = sorted((PROJECT / "macros").glob("*.sql"), key=lambda path: path.name == file)
    template = environment.from_string("".join(path.read_text() for path in files))
    module: Any = template.make_module({"return": _answer})
    template.globals["adapter"] = _Adapter(module)
    return template.make_module({"return": _answer, "adapter": _Adapter(module)})


def render(file: str, macro: str, *arguments: Any) -> str:
    """SQL of a macro for DuckDB."""
    try:
        return str(getattr(_module(file), macro)(*arguments))
    except _Answer as ended:
        return str(ended.args[0])
