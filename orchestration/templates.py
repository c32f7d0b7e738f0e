"""What Jinja makes of dbt's templates stays with the checkout, so that a model or a macro is compiled once.

A run of dbt compiles nearly 400 templates, a ninth of what it costs. Jinja keeps compiled templates for its loaders
only, and dbt hands it texts.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orchestration.dbt_manifest import PROJECT

FOLDER = PROJECT / "target" / "templates"


def keep(folder: Path = FOLDER) -> None:
    """Have dbt take compiled templates from the folder, and put there those that are new.

    Where nothing can be written dbt compiles them in every run.
    """
    from dbt_common.clients.jinja import MacroFuzzEnvironment
    from jinja2.bccache import Bucket, FileSystemBytecodeCache
    from jinja2.environment import Environment

    # what a template becomes is decided by Jinja and by dbt's extensions of it
    kept = folder / f"jinja2 {version('jinja2')}, dbt-common {version('dbt-common')}"
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
    cache = FileSystemBytecodeCache(str(kept), "%s")

    def compiled(self: Environment, source: Any, *told: Any, **named: Any) -> Any:
        if told or named or not isinstance(source, str):
            return Environment.compile(self, source, *told, **named)
        # the same text becomes another thing where a value is asked for instead of a text
        key = cache.get_cache_key(f"{type(self).__name__} {source}")
        bucket = Bucket(self, key, cache.get_source_checksum(source))
        # a damaged file is as good as none
        with suppress(Exception):
            cache.load_bytecode(bucket)
        if bucket.code is None:
            bucket.code = Environment.compile(self, source)
            with suppress(OSError):
                cache.dump_bytecode(bucket)
        return bucket.code

    MacroFuzzEnvironment.compile = compiled  # type: ignore[method-assign]
