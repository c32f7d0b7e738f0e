"""The dbt documentation as one page: what a reader of the models needs, and nothing that asks for more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestration.locks import WriterBusyError, only_writer
from touchledger import data_docs
from touchledger.data_docs import all_are_built, describes_the_models, page, without_unit_tests, write_data_docs
from touchledger.settings import Settings

MANIFEST: dict[str, Any] = {
    "nodes": {"model.t.a": {"description": "ends </script><script>alert(1)</script>"}},
    "unit_tests": {"unit_test.t.a.one": {}},
    "parent_map": {"model.t.b": ["model.t.a"], "unit_test.t.a.one": ["model.t.a"]},
    "child_map": {"model.t.a": ["model.t.b", "unit_test.t.a.one"], "model.t.b": []},
}
INDEX = (
    """<link href="${require('./assets/favicons/favicon.ico')}"/><script>"""
    """n=["MANIFEST.JSON INLINE DATA","CATALOG.JSON INLINE DATA"];"""
    """t='<svg><use xlink:href=\\"{{ icon }}\\"></use></svg>'</script>"""
)


def test_the_lineage_graph_holds_models_and_no_unit_test() -> None:
    kept = without_unit_tests(MANIFEST)
    assert kept["unit_tests"] == {}
    assert kept["child_map"] == {"model.t.a": ["model.t.b"], "model.t.b": []}
    assert kept["parent_map"] == {"model.t.b": ["model.t.a"]}
    assert kept["nodes"] == MANIFEST["nodes"]


def test_a_description_cannot_end_the_script_it_stands_in() -> None:
    written = page(INDEX, MANIFEST, {"nodes": {}})
    assert written.count("</script>") == 1
    inlined = written[written.index("n=[") + 3 : written.index(',{"nodes":{}}];')]
    assert json.loads(inlined) == MANIFEST


def test_the_page_asks_for_nothing_before_its_script_has_run() -> None:
    written = page(INDEX, {}, {})
    assert "${require" not in written
    assert "<use xlink:href" not in written
    assert 'href="/docs/assets/mark.svg"' in written


def test_models_that_the_warehouse_lacks_are_not_built() -> None:
    assert all_are_built(MANIFEST, {"nodes": {"model.t.a": {}}})
    assert not all_are_built(MANIFEST, {"nodes": {"seed.t.a": {}}})


def test_a_page_is_of_the_models_it_was_written_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, model = Settings(home=home), home / "model.sql"
    monkeypatch.setattr(data_docs, "PROJECT", home)
    model.write_text("select 1")
    assert not describes_the_models(settings), "there is none"
    settings.data_docs.parent.mkdir()
    settings.data_docs.write_text("page")
    assert not describes_the_models(settings), "it says nothing of any"
    settings.data_docs.write_text("page" + data_docs._mark(settings))
    assert describes_the_models(settings)
    model.write_text("select 2")
    assert not describes_the_models(settings), "a model is another"


def test_the_docs_never_open_the_warehouse_beside_a_run(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    # a build that began while they were written ended at once: DuckDB could not set its lock
    monkeypatch.setattr(data_docs, "WAIT_SECONDS", 0.0)
    with only_writer(settings.home / "locks" / "warehouse.lock", purpose="build"), pytest.raises(WriterBusyError):
        write_data_docs(settings)
