"""Files and folders of the inbox that are named after an erased person get other names, and stay what they were."""

from __future__ import annotations

import gzip

import pytest

from orchestration.erased_files import rewrite_inbox
from orchestration.inbox import not_loaded, scan_inbox, waiting_files
from orchestration.lake import Lake
from tests.orchestration.test_erased_files import ADA, ada, drop
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import lake
from touchledger.settings import Settings

__all__ = ["lake"]

LONGEST = 255


def test_a_file_named_after_the_person_gets_another_name_and_stays_the_import_it_was(
    settings: Settings, lake: Lake
) -> None:
    path = drop(settings, "list of Ada@example.com.csv", b"person_key,email\np2,bob@example.com\n")
    (loaded,) = scan_inbox(settings, lake)
    assert rewrite_inbox(settings.operational_url, Lake(settings.lake), settings.inbox, ada()) == 1
    (left,) = path.parent.iterdir()
    assert (left.name, left.read_bytes()) == (ada().text(loaded.file_name), b"person_key,email\np2,bob@example.com\n")
    assert waiting_files(settings) == []


@pytest.mark.parametrize("sign", ["n", "é"])
@pytest.mark.parametrize("ending", [".csv", ".CSV.gz", ""])
def test_a_name_that_would_be_longer_than_names_can_be_is_given_up_for_a_short_one(
    settings: Settings, lake: Lake, sign: str, ending: str
) -> None:
    # the disk refused it: no erasure ended, and no build published
    left = LONGEST - len(f"-{ADA}{ending}")
    name = f"{sign * (left // len(sign.encode()))}-{ADA}{ending}"
    content = b"person_key,first_name\np2,Bob\n"
    path = drop(settings, name, gzip.compress(content) if ending.endswith(".gz") else content)
    (known,) = scan_inbox(settings, lake)
    assert known.status == ("loaded" if ending else "rejected")
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    (renamed,) = path.parent.iterdir()
    assert ADA not in renamed.name and renamed.name.endswith(ending.lower()) and len(renamed.name) < 60
    assert waiting_files(settings) == []


def test_a_file_that_has_the_new_name_already_stays_beside_it(settings: Settings, lake: Lake) -> None:
    # the longest name with a random one in it is too long for a word before it
    taken = ada().text(ADA)
    front = "n" * (LONGEST - len(f"-{taken}.csv"))
    for number, name in enumerate((ADA, taken)):
        drop(settings, f"{front}-{name}.csv", f"person_key,first_name\np{number},Bob\n".encode())
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    left = {path.name: path.read_text() for path in settings.inbox.rglob("*.csv")}
    assert len(left) == 2 and "p1" in left[f"{front}-{taken}.csv"]


def test_a_folder_named_after_the_person_gets_another_name_with_all_that_lies_in_it(
    settings: Settings, lake: Lake
) -> None:
    # its name stayed, and `touchledger status` went on telling it
    drop(settings, f"of {ADA}/{ADA}/bob.csv", b"person_key,email\np2,bob@example.com\n")
    drop(settings, "bob.csv", b"person_key,email\np3,bob@example.com\n", f"no set of {ADA}")
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 3
    assert [one.file for one in not_loaded(settings) if ADA in one.file] == []
    name = ada().text(ADA)
    assert {str(path.relative_to(settings.inbox / PROFILE)) for path in settings.inbox.rglob("*.csv")} == {
        f"people/of {name}/{name}/bob.csv", f"no set of {name}/bob.csv",
    }  # fmt: skip


def test_the_folder_of_a_data_set_keeps_its_name_whatever_the_person_is_called(settings: Settings, lake: Lake) -> None:
    person = ada()
    person.learn("external_id", "identities")
    path = drop(settings, "bob.csv", b"kind_a,value_a\n", "identities")
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, person) == 0
    assert path.exists()
