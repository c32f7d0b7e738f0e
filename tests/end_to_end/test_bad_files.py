"""A bad file gets a clear message or quarantine rows, and only the good rows are in the figures."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import Deployment
from tests.end_to_end.served import rows_of

ACCOUNTS = "platform,ad_account_id,name,currency,timezone,status\nmeta,act_1,One,USD,UTC,ACTIVE\n"
CAMPAIGNS = "platform,campaign_id,ad_account_id,name,status\nmeta,c1,act_1,One,ACTIVE\n"
DELIVERY = "platform,ad_id,date,ad_account_id,ad_set_id,campaign_id,currency,spend,impressions,clicks\n"
GOOD_DAY = "meta,a1,2026-03-01,act_1,s1,c1,USD,12.34,100,5\n"


class Shop:
    """A profile with one ad-day of 12.34 spent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.deployment = Deployment(folder / "home")
        create = ("profile", "create", "--name", "Shop", "--timezone", "UTC", "--currency", "USD", "--quiet")
        self.profile = self.deployment.run_here(*create)
        for dataset, text in (
            ("ad_accounts", ACCOUNTS),
            ("campaigns", CAMPAIGNS),
            ("ad_delivery", DELIVERY + GOOD_DAY),
        ):
            self.give(dataset, "good.csv", text.encode())

    def give(self, dataset: str, name: str, content: bytes, succeeds: bool = True) -> str:
        path = self.folder / f"{dataset}-{name}"
        path.write_bytes(content)
        done = self.deployment.attempt_here("import", dataset, str(path), "--profile", self.profile, "--json")
        assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
        return done.stdout + done.stderr


@dataclass(frozen=True)
class Judged:
    """What became of the bad files and rows; `warned` is what the build said of the inbox."""

    said: dict[str, str]
    kept: list[dict[str, Any]]
    warned: str


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(tmp_path_factory.mktemp("shop"))


def _day(**changes: str) -> bytes:
    columns = DELIVERY.strip().split(",")
    row = dict(zip(columns, GOOD_DAY.strip().split(","), strict=True)) | {"date": "2026-03-02"} | changes
    return (DELIVERY + ",".join(row[name] for name in columns) + "\n").encode()


BAD_FILES = {
    "a wrong column": (DELIVERY.replace("clicks", "klicks") + GOOD_DAY).encode(),
    "broken UTF-8": DELIVERY.encode() + b"meta,a\xff1,2026-03-02,act_1,s1,c1,USD,1.00,1,1\n",
}
BAD_ROWS = {
    "NaN": (_day(spend="NaN"), "spend"),
    "negative spend": (_day(spend="-1.00"), "spend"),
    "an unknown currency": (_day(currency="XQX"), "currency"),
    "a date before 2000": (_day(date="1999-12-31"), "date"),
}


@pytest.fixture(scope="module")
def judged(shop: Shop) -> Judged:
    """Every bad file and row, given once, and a build: what was said, and what is in quarantine."""
    said = {fault: shop.give("ad_delivery", f"{fault}.csv", text, succeeds=False) for fault, text in BAD_FILES.items()}
    whole = gzip.compress(_day() * 50)
    said["a truncated gzip"] = shop.give("ad_delivery", "cut.csv.gz", whole[: len(whole) // 2], succeeds=False)
    rows = b"".join(text.removeprefix(DELIVERY.encode()) for text, _ in BAD_ROWS.values())
    shop.give("ad_delivery", "rows.csv", DELIVERY.encode() + rows)
    kept = json.loads(shop.deployment.run_here("status", "--json"))["quarantine"]
    for dataset, text in (("ad_delivery", BAD_FILES["a wrong column"]), ("ad_delivry", DELIVERY.encode())):
        dropped = shop.deployment.home / "inbox" / shop.profile / dataset / "dropped.csv"
        dropped.parent.mkdir(parents=True)
        dropped.write_bytes(text)
    built = shop.deployment.attempt_here("build", "--quiet")
    assert built.returncode == 0, built.stderr
    return Judged(said, kept, built.stderr)


@pytest.mark.parametrize(
    ("fault", "words"),
    [("a wrong column", ["klicks", "clicks"]), ("broken UTF-8", ["UTF-8"]), ("a truncated gzip", ["gzip"])],
)
def test_a_broken_file_is_refused_in_words(judged: Judged, fault: str, words: list[str]) -> None:
    assert [word for word in words if word not in judged.said[fault]] == []


@pytest.mark.parametrize("fault", sorted(BAD_ROWS))
def test_a_bad_row_is_kept_in_quarantine_with_its_field(judged: Judged, fault: str) -> None:
    _, field = BAD_ROWS[fault]
    counted = sum(
        entry["rows"] for entry in judged.kept if (entry["dataset"], entry["field"]) == ("ad_delivery", field)
    )
    assert counted == sum(named == field for _, named in BAD_ROWS.values())


def test_a_build_says_which_files_of_the_inbox_it_did_not_load(shop: Shop, judged: Judged) -> None:
    lines = [line for line in judged.warned.splitlines() if "of the inbox" in line]
    assert [line.partition("/dropped.csv of the inbox is not loaded: ")[0] for line in lines] == [
        f"{shop.profile}/ad_delivery", f"{shop.profile}/ad_delivry",
    ]  # fmt: skip
    assert "klicks" in lines[0]
    assert "did you mean 'ad_delivery'?" in lines[1]


@pytest.mark.usefixtures("judged")
def test_the_figures_are_those_of_the_good_rows_alone(shop: Shop) -> None:
    delivered = "select level, day, spend_minor, impressions, clicks from delivery_daily order by level"
    assert rows_of(shop.deployment.home, delivered) == [
        (level, date(2026, 3, 1), 1234, 100, 5) for level in ("ad", "ad_set", "campaign")
    ]
    assert rows_of(shop.deployment.home, "select level, platform_id from entities order by level") == [
        ("ad", "a1"), ("ad_set", "s1"), ("campaign", "c1"),
    ]  # fmt: skip
    assert rows_of(shop.deployment.home, "select count(*) from conversions") == [(0,)]
