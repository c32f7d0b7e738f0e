"""The dbt documentation as one page: what a reader of the models needs, and nothing that asks for more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dbt.task.docs import DOCS_INDEX_FILE_PATH

from data_contracts.contract import landed, modelled
from orchestration.batch_file import raw_schema
from orchestration.locks import WriterBusyError, only_writer
from touchledger import data_docs
from touchledger.contract_docs import with_contracts
from touchledger.data_docs import (
    all_are_built,
    describes_the_models,
    page,
    with_described_tests,
    without_unit_tests,
    write_data_docs,
)
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


def test_a_data_test_tells_what_it_holds_and_a_model_what_it_told() -> None:
    told = {"resource_type": "test", "description": "", "meta": {"description": "No currency is told twice."}}
    model = {"resource_type": "model", "description": "One row per day.", "meta": {"changed": "int_changed_days"}}
    nodes = with_described_tests({"nodes": {"test.t.a": told, "model.t.a": model}})["nodes"]
    assert nodes["test.t.a"]["description"] == "No currency is told twice."
    assert nodes["model.t.a"] == model


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


def test_a_source_tells_what_a_row_is_its_columns_and_where_its_files_lie() -> None:
    files = "read_parquet('~/lake/raw/ad_delivery/**/*.parquet', union_by_name = true)"
    node = {"name": "ad_delivery", "description": "", "columns": {}, "relation_name": files, "meta": {"dagster": {}}}
    told = with_contracts({"nodes": {}, "sources": {"source.t.lake.ad_delivery": node}})["sources"]
    source = told["source.t.lake.ad_delivery"]
    assert source["description"].startswith(landed()["ad_delivery"].grain)
    assert source["description"].endswith("the key in one `_profile_id`: `platform`, `ad_id`, `date`.")
    assert list(source["columns"]) == raw_schema(landed()["ad_delivery"]).names
    assert source["columns"]["date"]["constraints"] == [{"type": "not_null"}]
    # a withdrawal has the key alone
    assert source["columns"]["spend"]["constraints"] == []
    assert all(one["description"] and one["type"] for one in source["columns"].values())
    assert source["relation_name"] == files.replace("~/", "")
    assert source["meta"] == {"files, in the state folder": "lake/raw/ad_delivery/**/*.parquet"}


def test_a_mart_tells_its_key_and_which_columns_are_never_null() -> None:
    columns = {name: {"name": name, "description": "text"} for name in modelled()["people_ads"].column}
    mart = {"name": "people_ads", "columns": columns, "meta": {"changed": "int_changed_days", "since": None}}
    other = {"name": "int_paths", "columns": {"n": {"name": "n"}}, "meta": {}}
    told = with_contracts({"nodes": {"model.t.people_ads": mart, "model.t.int_paths": other}, "sources": {}})["nodes"]
    constraints = {
        name: [one["type"] for one in column["constraints"]]
        for name, column in told["model.t.people_ads"]["columns"].items()
    }
    assert constraints == {
        "profile_key": ["not_null", "primary_key"],
        "ad_key": ["not_null", "primary_key"],
        "ad_id": ["not_null"],
        "ad_name": [],
        "entity_key": [],
    }
    assert told["model.t.people_ads"]["columns"]["ad_id"]["description"] == "text"
    assert told["model.t.people_ads"]["meta"] == {"key": "profile_key, ad_key"}
    assert told["model.t.int_paths"] == other


def test_the_statement_shown_of_a_source_reads_its_files() -> None:
    written = page(Path(DOCS_INDEX_FILE_PATH).read_text(), {}, {})
    statement = written[written.index("generateSourceSQL:function(e)") :].partition("return")[0]
    assert statement.endswith("const o=e.relation_name;")


def test_a_page_of_other_contracts_is_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=home)
    before = data_docs._mark(settings)
    monkeypatch.setattr(data_docs, "landed", dict)
    assert data_docs._mark(settings) != before


def test_the_docs_never_open_the_warehouse_beside_a_run(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    # a build that began while they were written ended at once: DuckDB could not set its lock
    monkeypatch.setattr(data_docs, "WAIT_SECONDS", 0.0)
    with only_writer(settings.home / "locks" / "warehouse.lock", purpose="build"), pytest.raises(WriterBusyError):
        write_data_docs(settings)
