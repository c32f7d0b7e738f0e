"""The dbt documentation of a deployment as one page that needs no network."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import duckdb
from dbt.task.docs import DOCS_INDEX_FILE_PATH

from data_contracts.contract import landed, served
from orchestration import raw_columns
from orchestration.dbt_manifest import PROJECT, fingerprint, run_dbt, target, words
from orchestration.durable import put_in_place
from orchestration.locks import only_writer
from orchestration.warehouse_state import require_database, require_usable
from touchledger import contract_docs
from touchledger.contract_docs import with_contracts
from touchledger.settings import Settings

UNIT_TEST = "unit_test."
WAIT_SECONDS = 600.0
# dbt's page asks the server for the first three before its own script has filled them in; the statement that it shows
# of a source names a table that there is not, for sources are files
CORRECTED = {
    '<use xlink:href=\\"{{': '<use ng-attr-xlink:href=\\"{{',
    '<use xlink:href="{{': '<use ng-attr-xlink:href="{{',
    "${require('./assets/favicons/favicon.ico')}": "/docs/assets/mark.svg",
    'const o=(e.database?e.database+".":"")+e.schema+"."+e.identifier': "const o=e.relation_name",
}
# a page of older ones says something else of the same models
MADE_BY = (__file__, contract_docs.__file__, raw_columns.__file__)


class DataDocsError(click.ClickException):
    """The documentation could not be written; the text is dbt's own."""


def write_data_docs(settings: Settings) -> None:
    """Write the page of the last build's models. Waits for whoever writes the warehouse.

    Raises DataDocsError with dbt's words, DamagedWarehouseError before dbt begins where that would keep it from its
    work, WriterBusyError when a run goes on for too long.
    """
    # dbt opens the warehouse, which a run that began meanwhile could then not do
    lock = settings.home / "locks" / "warehouse.lock"
    with only_writer(lock, purpose="write the data docs", wait_seconds=WAIT_SECONDS):
        _write(settings)


def _write(settings: Settings) -> None:
    require_database(settings)
    # which program has it open, dbt tells
    with suppress(duckdb.IOException):
        require_usable(settings)
    done = run_dbt(settings, ["--quiet", "docs", "generate"])
    artifacts = [target(settings) / name for name in ("manifest.json", "catalog.json")]
    if done.returncode != 0 or not all(path.exists() for path in artifacts):
        raise DataDocsError(f"the data docs could not be written:\n{words(done)}")
    manifest, catalog = (json.loads(path.read_text()) for path in artifacts)
    settings.data_docs.parent.mkdir(parents=True, exist_ok=True)
    written = target(settings) / "data_docs.html"
    told = with_contracts(with_described_tests(without_unit_tests(manifest)))
    text = page(Path(DOCS_INDEX_FILE_PATH).read_text(), told, catalog)
    written.write_text(text + (_mark(settings) if all_are_built(manifest, catalog) else ""))
    put_in_place(written, settings.data_docs)


def all_are_built(manifest: Mapping[str, Any], catalog: Mapping[str, Any]) -> bool:
    """Whether the warehouse had each of the models: a page written before a build lacks their columns' types."""
    return all(name in catalog["nodes"] for name in manifest["nodes"] if name.startswith("model."))


def describes_the_models(settings: Settings) -> bool:
    """Whether the page is that of this checkout's models, all of them built: contracts fix what a build gives them."""
    mark = _mark(settings).encode()
    try:
        with settings.data_docs.open("rb") as file:
            file.seek(-len(mark), os.SEEK_END)
            return file.read() == mark
    except OSError:
        # none is written, or it is shorter than a mark
        return False


def _mark(settings: Settings) -> str:
    """The end of the page: what the models, their contracts, and what makes a page of them, come to."""
    told = hashlib.sha256(b"".join(Path(path).read_bytes() for path in MADE_BY))
    told.update(repr([one.fingerprint for one in (*landed().values(), *served().values())]).encode())
    ours = told.hexdigest()[:16]
    return f"\n<!-- of {fingerprint(PROJECT, settings)} by {ours} -->\n"


def page(index: str, manifest: Mapping[str, Any], catalog: Mapping[str, Any]) -> str:
    """dbt's page with both artifacts inside it."""
    for theirs, ours in CORRECTED.items():
        index = index.replace(theirs, ours)
    for name, artifact in (("MANIFEST", manifest), ("CATALOG", catalog)):
        index = index.replace(f'"{name}.JSON INLINE DATA"', _inline(artifact))
    return index


def without_unit_tests(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without its unit tests: they outnumber the models, and the lineage graph drew every one of them."""
    kept = dict(manifest) | {"unit_tests": {}}
    for name in ("parent_map", "child_map"):
        kept[name] = {
            node: [other for other in others if not other.startswith(UNIT_TEST)]
            for node, others in manifest[name].items()
            if not node.startswith(UNIT_TEST)
        }
    return kept


def with_described_tests(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with what its data tests hold, which Dagster reads off their meta, where the page looks for it."""
    nodes = {
        name: dict(node) | {"description": node["meta"]["description"]}
        if "description" in node.get("meta", ())
        else node
        for name, node in manifest["nodes"].items()
    }
    return dict(manifest) | {"nodes": nodes}


def _inline(artifact: Mapping[str, Any]) -> str:
    # a description that holds </script> must not end the script it stands in
    return re.sub(r"</(?=script)", r"<\\/", json.dumps(artifact, separators=(",", ":")), flags=re.IGNORECASE)
