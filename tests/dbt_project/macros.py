"""The project's macros, rendered without dbt so that a test can try them on many values at once."""

from __future__ import annotations

from typing import Any

import jinja2

from orchestration.dbt_manifest import PROJECT


class _Adapter:
    def __init__(self, module: Any) -> None:
        self.module = module

    def dispatch(self, name: str) -> Any:
        return getattr(self.module, f"duckdb__{name}")


def render(file: str, macro: str, *arguments: Any) -> str:
    """SQL of a macro for DuckDB."""

    class Answer(Exception):
        pass

    def answer(value: Any) -> Any:
        raise Answer(value)

    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    # a macro may call one of another file; the file named stands last, so that its own come first
    files = sorted((PROJECT / "macros").glob("*.sql"), key=lambda path: path.name == file)
    template = environment.from_string("".join(path.read_text() for path in files))
    module: Any = template.make_module({"return": answer})
    template.globals["adapter"] = _Adapter(module)
    module = template.make_module({"return": answer, "adapter": _Adapter(module)})
    try:
        return str(getattr(module, macro)(*arguments))
    except Answer as ended:
        return str(ended.args[0])
