"""Which marts keep rows in a build that is an increment, and where the warehouse tells whose rows were made anew."""

from __future__ import annotations

import json
from dataclasses import dataclass

from orchestration.dbt_manifest import ensure_manifest
from touchledger.settings import Settings


@dataclass(frozen=True)
class Kept:
    """Rows of a mart made anew: those whose `keys` are in `changed`, a table of the warehouse with its schema.

    With `since`, a column of both, only from its value there on.
    """

    keys: tuple[str, ...]
    changed: str
    since: str | None = None

    def only(self, catalog: str) -> str:
        """The join that leaves of `kept`, a relation, the rows that were made anew."""
        same = [f"kept.{key} = changed.{key}" for key in self.keys]
        same += [f"kept.{self.since} >= changed.{self.since}"] if self.since else []
        return f"semi join {catalog}.{self.changed} as changed on {' and '.join(same)}"


def kept_marts(settings: Settings) -> dict[str, Kept]:
    """The marts of kept_by() in dbt_project/macros/increments.sql, by name."""
    nodes = json.loads(ensure_manifest(settings).read_text())["nodes"].values()
    models = {node["name"]: node for node in nodes if node["resource_type"] == "model"}
    return {
        name: Kept(
            keys=tuple(node["config"]["unique_key"]),
            changed=f"{models[changed]['schema']}.{changed}",
            since=node["config"]["meta"]["since"],
        )
        for name, node in models.items()
        if node["schema"] == "marts" and node["config"].get("incremental_strategy") == "kept"
        for changed in [node["config"]["meta"]["changed"]]
    }
