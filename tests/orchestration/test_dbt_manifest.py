"""The manifest Dagster reads: whole, whatever became of the dbt command that ran last, and parsed once for all."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from orchestration import dbt_manifest
from orchestration.dbt_manifest import PROJECT, DbtParseError, drop_others, ensure_manifest, fingerprint, target
from orchestration.dbt_process import environment
from touchledger.settings import Settings


def test_a_manifest_that_a_killed_dbt_left_half_written_is_not_read(home: Path) -> None:
    # a build killed while dbt wrote its manifest made every later command end with a JSON error
    settings = Settings(home=home)
    ensure_manifest(settings)
    (target(settings) / "manifest.json").write_text('{"nodes": {')
    assert json.loads(ensure_manifest(settings).read_text())["nodes"]


def test_a_second_state_folder_starts_with_what_the_first_one_parsed(home: Path) -> None:
    first, second = Settings(home=home / "first"), Settings(home=home / "second")
    for name in ("metadata", "nodes"):
        one, other = (json.loads(ensure_manifest(settings).read_text())[name] for settings in (first, second))
        assert one == other
    state = [(target(settings) / dbt_manifest.STATE).read_bytes() for settings in (first, second)]
    assert state[0] == state[1]


def test_what_another_process_parsed_meanwhile_is_not_dropped_as_old(tmp_path: Path) -> None:
    # three test workers on a fresh machine: one dropped what another had just put there and went on to read
    for name in ("parsed-1.json", "parsed-2.json", "other.json"):
        (tmp_path / name).touch()
    drop_others(tmp_path / "parsed-2.json")
    assert {path.name for path in tmp_path.iterdir()} == {"parsed-2.json", "other.json"}


def test_of_what_was_parsed_the_newest_stay_and_nothing_that_a_killed_parse_left(tmp_path: Path) -> None:
    # each kill had left 6 MB in a hidden folder of the checkout, for ever
    now = time.time()
    for age, name in enumerate(["a", "b", "c", "d", "e", ".left", ".under_way"]):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, times=(now - 10 * age, now - 10 * age))
    os.utime(tmp_path / ".left", times=(now - 4000, now - 4000))
    dbt_manifest.forget_old(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "c", "d", ".under_way"}


def test_dbt_is_told_the_same_in_every_state_folder_or_it_would_parse_anew(home: Path) -> None:
    one, other = environment(Settings(home=home / "first")), environment(Settings(home=home / "second"))
    assert {name for name in one if one[name] != other[name]} == {"HOME"}


def test_a_dbt_that_was_killed_is_told_as_such(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # it has no words of its own: the error had none either. It ends itself where who called it is gone by the time it
    # begins: there it went on for half a minute, with the lock and the warehouse of whoever came next
    monkeypatch.setattr(os, "getpid", os.getppid)
    with pytest.raises(DbtParseError, match="signal 9 ended dbt before it told anything"):
        # whose project nobody parsed before
        ensure_manifest(Settings(home=home, warehouse_threads=613))


def test_an_emptied_manifest_is_made_anew_wherever_it_lies(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # as after a power cut; every command of that folder, or of every new one, ended with a JSON error
    settings = Settings(home=home)
    manifest = ensure_manifest(settings)
    manifest.write_bytes(b"")
    assert json.loads(ensure_manifest(settings).read_text())["nodes"]
    kept = home / "kept"
    monkeypatch.setattr(dbt_manifest, "KEPT", kept)
    folder = kept / fingerprint(PROJECT, settings)
    folder.mkdir(parents=True)
    for path in (manifest, folder / "manifest.json", folder / dbt_manifest.STATE):
        path.write_bytes(b"")
    # dbt is asked again, and here ended before it has parsed
    monkeypatch.setattr(os, "getpid", os.getppid)
    with pytest.raises(DbtParseError):
        ensure_manifest(settings)
    assert list(kept.iterdir()) == []


def test_any_changed_file_and_any_setting_of_the_profile_lead_to_a_new_parse(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    model = tmp_path / "models" / "one.sql"
    model.write_text("select 1")
    settings = Settings(home=tmp_path / "home")
    before = fingerprint(tmp_path, settings)
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "one.sql").write_text("compiled")
    assert fingerprint(tmp_path, settings) == before
    assert fingerprint(tmp_path, Settings(home=tmp_path / "home", warehouse_threads=7)) != before
    model.write_text("select 2")
    assert fingerprint(tmp_path, settings) != before
