"""What makes a build an increment, and what makes it whole."""

from __future__ import annotations

import json

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestration import increment
from orchestration.dbt_commands import FULL_REFRESH
from tests.orchestration.followed_lake import BUILD, build, convert, land, told
from touchledger.settings import Settings


@pytest.fixture
def settings(followed: Settings) -> Settings:
    return followed


def test_nothing_new_tells_no_change(settings: Settings) -> None:
    arguments, base = increment.begin(settings, BUILD)
    assert arguments == BUILD and base is not None
    assert told(settings, "select * from changes.touch_keys") == []
    assert told(settings, "select * from changes.touches") == []
    assert told(settings, "select * from changes.conversions") == []


def test_increments_know_the_whole_build_they_go_back_to(settings: Settings) -> None:
    found = [increment.builds(settings)]
    for options in ([], [], [FULL_REFRESH], []):
        _, base = increment.begin(settings, [*BUILD, *options])
        assert base is not None
        assert increment.builds(settings) == ("", "", ""), "a build that does not end may have done anything"
        increment.end(settings, base)
        found.append(increment.builds(settings))
    first, _, _, second, _ = (one.whole for one in found)
    assert first and second and first != second
    assert [one.whole for one in found] == [first, first, first, second, second]
    ids = [one.newest for one in found]
    assert len(set(ids)) == 5
    assert [one.before for one in found] == ["", ids[0], ids[1], "", ids[3]]


def test_a_base_of_an_older_release_gets_an_id_with_the_next_increment(settings: Settings) -> None:
    path = settings.home / "warehouse.base"
    told = json.loads(path.read_text())
    del told["whole"], told["increments"], told["build"], told["before"]
    path.write_text(json.dumps(told))
    with duckdb.connect(str(settings.warehouse)) as connection:
        connection.execute("drop table changes.build")
    assert increment.builds(settings) == ("", "", "")
    arguments, base = increment.begin(settings, BUILD)
    assert arguments == BUILD and base is not None
    increment.end(settings, base)
    now = increment.builds(settings)
    assert now.whole and now.newest and not now.before


def test_a_base_of_a_newer_release_counts_for_nothing(settings: Settings) -> None:
    path = settings.home / "warehouse.base"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "files": {name: [*facts, "more"] for name, facts in told["files"].items()}}))
    arguments, base = increment.begin(settings, BUILD)
    assert "--full-refresh" in arguments and base is not None


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"models": "m", "files": []}'])
def test_a_damaged_base_counts_for_nothing(settings: Settings, content: bytes) -> None:
    # a file of zero bytes ended every build from there on, and dbt's log alone said why
    (settings.home / "warehouse.base").write_bytes(content)
    assert increment.builds(settings) == ("", "", "")
    arguments, base = increment.begin(settings, BUILD)
    assert "--full-refresh" in arguments and base is not None
    increment.end(settings, base)
    assert increment.builds(settings).newest == base.build


def test_a_warehouse_that_another_build_left_is_made_anew(settings: Settings) -> None:
    # an older one that was put back lacked the rows of what came since, and no later build brought them
    older = settings.warehouse.read_bytes()
    _, base = increment.begin(settings, BUILD)
    assert base is not None
    increment.end(settings, base)
    settings.warehouse.write_bytes(older)
    arguments, base = increment.begin(settings, BUILD)
    assert FULL_REFRESH in arguments and base is not None
    increment.end(settings, base)
    # one that was removed and is made by whoever only asks for its documentation
    settings.warehouse.unlink()
    duckdb.connect(str(settings.warehouse)).close()
    assert FULL_REFRESH in increment.begin(settings, BUILD)[0]


def test_after_many_builds_that_keep_rows_one_is_whole(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(increment, "MOST", 2)
    said = []
    for _ in range(6):
        arguments, base = increment.begin(settings, BUILD)
        assert base is not None
        increment.end(settings, base)
        said.append(FULL_REFRESH in arguments)
    assert said == [False, False, True, False, False, True]


def test_a_new_batch_is_told_alone_and_nobody_lost_a_touch(settings: Settings) -> None:
    land(settings, "three", ["d"])
    increment.begin(settings, BUILD)
    assert told(settings, "select touch_key from changes.touches") == [("d",)]
    assert told(settings, "select * from changes.touch_identities") == []


def test_a_folder_above_is_no_column_of_what_is_told(followed: Settings) -> None:
    # of a state folder below `channel=tv` each new touch came in by that, and the next whole build said otherwise
    home = followed.home / "channel=tv"
    build(home)
    land(Settings(home=home), "three", ["c", "d"])
    increment.begin(Settings(home=home), BUILD)
    assert told(Settings(home=home), "select touch_key, channel from changes.touches") == [
        ("c", "web"), ("c", "web"), ("d", "web"),
    ]  # fmt: skip


def test_a_batch_landed_anew_tells_what_it_held_and_what_it_holds(settings: Settings) -> None:
    land(settings, "one", ["b", "d"])
    increment.begin(settings, BUILD)
    assert told(settings, "select touch_key from changes.touches") == [("b",), ("d",)]
    assert told(settings, "select touch_key from changes.touch_keys") == [("a",), ("b",), ("d",)]
    identities = told(settings, "select identity_key from changes.touch_identities")
    assert identities == [("person_key:a",), ("person_key:b",)]


def test_another_version_of_an_old_touch_brings_every_version_of_it(settings: Settings) -> None:
    land(settings, "three", ["c"], channel="social")
    increment.begin(settings, BUILD)
    versions = told(settings, "select touch_key, channel from changes.touches")
    assert versions == [("c", "social"), ("c", "web")]
    assert told(settings, "select identity_key from changes.touch_identities") == [("person_key:c",)]


def test_a_lost_batch_tells_its_touches_and_holds_none(settings: Settings) -> None:
    next(settings.lake.rglob("two.parquet")).unlink()
    increment.begin(settings, BUILD)
    assert told(settings, "select touch_key from changes.touch_keys") == [("c",)]
    assert told(settings, "select * from changes.touches") == []


def test_what_a_lost_batch_had_withdrawn_is_told_again(settings: Settings) -> None:
    land(settings, "three", ["a"], withdraws=True)
    _, base = increment.begin(settings, BUILD)
    assert base is not None
    increment.end(settings, base)
    with duckdb.connect(str(settings.warehouse)) as connection:
        connection.execute("delete from staging.stg_app__touches where touch_key = 'a'")
    next(settings.lake.rglob("three.parquet")).unlink()
    increment.begin(settings, BUILD)
    assert told(settings, "select profile_id, touch_key from changes.touch_keys") == [("p", "a")]
    assert told(settings, "select touch_key, _deleted from changes.touches") == [("a", False)]


def test_what_a_lost_batch_had_withdrawn_is_told_again_though_it_came_again_before(settings: Settings) -> None:
    land(settings, "three", ["a"], withdraws=True)
    land(settings, "four", ["a"], channel="social")
    _, base = increment.begin(settings, BUILD)
    assert base is not None
    increment.end(settings, base)
    next(settings.lake.rglob("three.parquet")).unlink()
    increment.begin(settings, BUILD)
    assert told(settings, "select touch_key, channel from changes.touches") == [("a", "social"), ("a", "web")]


def test_conversions_are_followed_as_touches_are(settings: Settings) -> None:
    convert(settings, "lead", "other")
    convert(settings, "later", "lead")
    increment.begin(settings, BUILD)
    assert told(settings, "select conversion_key, _batch from changes.conversions") == [
        ("lead", "later"),
        ("other", "lead"),
    ]
    assert told(settings, "select conversion_key from changes.conversion_keys") == [("lead",), ("other",)]
    assert told(settings, "select * from changes.touch_keys") == []


def test_many_conversions_at_once_are_built_whole(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(increment, "MANY", 1)
    convert(settings, "later", "one", "two")
    assert "--full-refresh" in increment.begin(settings, BUILD)[0]


@pytest.mark.parametrize(
    "command",
    [
        ["build", "--select", "int_touches"],
        ["run", "-s", "int_touches"],
        ["build", "--exclude", "marts"],
        ["build", "--selector", "marts"],
        ["build", "--resource-type", "model"],
        ["build", "--select", "test"],
        ["build", "--exclude", "fqn:*"],
        ["build", "--empty"],
    ],
)
def test_a_build_of_a_part_is_whole_and_makes_the_next_one_whole(settings: Settings, command: list[str]) -> None:
    arguments, base = increment.begin(settings, command)
    assert "--full-refresh" in arguments and base is None
    assert "--full-refresh" in increment.begin(settings, BUILD)[0]


@pytest.mark.parametrize(
    "command",
    [
        ["build", "--select", "fqn:*", "--exclude", "resource_type:unit_test"],
        ["build", "--quiet", "--exclude-resource-type", "test", "unit_test"],
        ["run", "--target-path", "anywhere", "--log-format-file", "json"],
    ],
)
def test_a_build_without_tests_is_of_every_model(settings: Settings, command: list[str]) -> None:
    arguments, base = increment.begin(settings, command)
    assert arguments == command and base is not None


@pytest.mark.parametrize("command", [["run"], ["build", "--exclude-resource-type", "test"]])
def test_rows_that_no_test_saw_are_judged_by_the_next_build_that_judges(settings: Settings, command: list[str]) -> None:
    _, base = increment.begin(settings, command)
    assert base is not None
    increment.end(settings, base)
    arguments, base = increment.begin(settings, command)
    assert arguments == command and base is not None
    increment.end(settings, base)
    arguments, base = increment.begin(settings, BUILD)
    assert "--full-refresh" in arguments and base is not None
    increment.end(settings, base)
    assert increment.begin(settings, BUILD)[0] == BUILD


def test_a_build_that_did_not_end_well_is_followed_by_a_whole_one(settings: Settings) -> None:
    increment.begin(settings, BUILD)
    assert "--full-refresh" in increment.begin(settings, BUILD)[0]


def test_a_file_that_was_not_landed_makes_builds_whole(settings: Settings) -> None:
    pq.write_table(pa.table({"touch_key": ["x"]}), next(settings.lake.rglob("two.parquet")))
    assert increment.begin(settings, BUILD) == (["build", "--full-refresh", "--no-write-json"], None)


def test_other_models_are_followed_by_a_whole_build(settings: Settings) -> None:
    other = settings.model_copy(update={"warehouse_memory_limit": "3GB"})
    assert "--full-refresh" in increment.begin(other, BUILD)[0]


def test_without_its_warehouse_a_base_counts_for_nothing(settings: Settings) -> None:
    settings.warehouse.unlink()
    assert "--full-refresh" in increment.begin(settings, BUILD)[0]


@pytest.mark.parametrize(
    ("new", "known", "much"),
    [(0, 0, False), (200_000, 0, False), (200_001, 1_000_004, True), (200_001, 1_000_005, False)],
)
def test_a_fifth_of_the_history_at_once_is_built_whole(new: int, known: int, much: bool) -> None:
    assert increment.is_much(new, known) is much


@pytest.mark.parametrize("flags", [["--quiet"], ["--log-path", "run"]])
def test_flags_before_the_command_change_nothing(settings: Settings, flags: list[str]) -> None:
    arguments, base = increment.begin(settings, [*flags, *BUILD])
    assert arguments == [*flags, *BUILD] and base is not None
    assert increment.begin(settings, [*flags, *BUILD])[0] == [*flags, "build", "--full-refresh", "--no-write-json"]


@pytest.mark.parametrize("command", ["retry", "seed", "snapshot", "clone", "run-operation"])
def test_whatever_may_write_the_warehouse_makes_the_next_build_whole(settings: Settings, command: str) -> None:
    assert increment.begin(settings, ["--debug", command, "name"]) == (["--debug", command, "name"], None)
    assert "--full-refresh" in increment.begin(settings, BUILD)[0]


def test_a_wish_for_a_whole_build_is_kept(settings: Settings) -> None:
    assert increment.begin(settings, [*BUILD, "--full-refresh"])[0] == [*BUILD, "--full-refresh"]


@pytest.mark.parametrize("command", [["docs", "generate"], ["--quiet", "parse"], ["test", "--select", "int_touches"]])
def test_other_commands_are_left_alone(settings: Settings, command: list[str]) -> None:
    assert increment.begin(settings, command) == (command, None)
    assert increment.begin(settings, BUILD)[0] == BUILD
