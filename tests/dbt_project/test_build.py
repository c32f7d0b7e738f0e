"""The project as a whole: it builds without a warning, proves its models and documents itself offline."""

from __future__ import annotations

import re

from data_contracts.contract import modelled
from orchestration.dbt_manifest import target
from tests.dbt_project.project import Project


def test_an_empty_lake_builds_and_every_model_passes_its_unit_tests(printed: str) -> None:
    assert "WARN=0 ERROR=0 SKIP=0" in printed


def test_the_documentation_is_one_page_that_describes_every_model(world: Project) -> None:
    printed = world.dbt("docs", "generate", "--static")
    page = (world.settings.home / "dbt" / "static_index.html").read_text()
    assert "WARNING" not in printed.upper()
    assert "delivery_daily" in page


def test_a_second_build_changes_no_row(world: Project) -> None:
    found = world.rows("select table_name from information_schema.tables where table_schema = 'marts'")
    names = [name for (name,) in found]
    before = {name: sorted(world.rows(f"select * from marts.{name}"), key=repr) for name in names}
    world.build()
    assert set(names) == set(modelled())
    assert {name: sorted(world.rows(f"select * from marts.{name}"), key=repr) for name in names} == before


def test_the_project_was_not_parsed_anew_for_this_state_folder(world: Project) -> None:
    log = "".join(path.read_text() for path in target(world.settings).glob("dbt.log*"))
    assert "Partial parsing enabled: 0 files deleted, 0 files added, 0 files changed" in log
    assert "Unable to do partial parsing" not in log


def test_a_model_that_most_of_the_build_waits_for_goes_before_one_that_nearly_nothing_waits_for(world: Project) -> None:
    # a full log goes on in a new file, and the older one has the higher number
    log = "".join(path.read_text() for path in sorted(target(world.settings).glob("dbt.log*"), reverse=True))
    began = re.findall(r"Began running node model\.touchledger\.(\w+)", log)
    # dbt by itself begins all models of staging first, for those wait for nothing
    assert began.index("int_profiles") < began.index("stg_store__variants")
