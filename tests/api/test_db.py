"""The operational database under many short transactions."""

from __future__ import annotations

from pathlib import Path

from api import db
from api.models import RateUse
from touchledger.settings import Settings

PAGE, OLD_LIMIT = 4096, 1_000


def test_a_few_thousand_requests_are_admitted_without_carrying_the_log_over(settings: Settings) -> None:
    with db.admission(settings.operational_url) as session:
        session.add_all(RateUse(bucket=f"key:{n}", uses=[]) for n in range(300))
    before = file(settings).stat().st_mtime_ns
    for n in range(OLD_LIMIT):
        with db.admission(settings.operational_url) as session:
            session.get_one(RateUse, f"key:{n * 7 % 300}").uses = [[n, 1]] * 20
    assert file(settings, "-wal").stat().st_size > OLD_LIMIT * PAGE
    assert file(settings).stat().st_mtime_ns == before


def file(settings: Settings, suffix: str = "") -> Path:
    return Path(settings.operational_url.removeprefix("sqlite:///") + suffix)
