"""dagster-dbt as it is where dbt-core is not installed; what the code location needs of it is imported from here.

Where it can import dbt, it takes half of dbt-core and its graph library into every process that loads the code
location, a third of the whole, for three names of enumerations and a selection of models. dbt has a process of its own
(orchestration/dbt_process.py), and what is selected is everything.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

from dagster_shared.libraries import DagsterLibraryRegistry

from orchestration import early_dbt

# none, so that the import fails; afterwards as before, for dbt stays there for who asks
_loaded = sys.modules.get("dbt.version")
sys.modules["dbt.version"] = None  # type: ignore[assignment]
try:
    from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtCliResource, dbt_assets
    from dagster_dbt.core import dbt_cli_invocation
    from dagster_dbt.core.dbt_cli_invocation import DbtCliInvocation
    from dagster_dbt.errors import DagsterDbtCliRuntimeError
finally:
    del sys.modules["dbt.version"]
    if _loaded is not None:
        sys.modules["dbt.version"] = _loaded

# dbt may have been started before Dagster asks for it
dbt_cli_invocation.subprocess = early_dbt  # type: ignore[attr-defined]

# the UI lists what a code location runs on, and it believes to have found dbt's other engine
DagsterLibraryRegistry._libraries.pop("dbt-fusion", None)
DagsterLibraryRegistry.register("dbt-core", version("dbt-core"), is_dagster_package=False)

__all__ = [
    "DagsterDbtCliRuntimeError",
    "DagsterDbtTranslator",
    "DagsterDbtTranslatorSettings",
    "DbtCliInvocation",
    "DbtCliResource",
    "dbt_assets",
]
