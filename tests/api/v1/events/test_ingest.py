"""Accepting records: judged by their contract, kept once per key, on both databases."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from api.db import transaction
from api.models import IngestedRecord, Profile, Workspace
from api.v1.events.ingest import Accepted, Conflict, accept
from tests.data_contracts.records import record

PROFILE, OTHER = "01900000-0000-7000-8000-00000000000a", "01900000-0000-7000-8000-00000000000b"


@pytest.fixture
def url(database_url: str) -> str:
    with transaction(database_url) as session:
        session.add(Workspace(id="w", name="Workspace"))
        session.flush()
        for profile_id in (PROFILE, OTHER):
            session.add(Profile(id=profile_id, workspace_id="w", name="n", timezone="UTC", reporting_currency="USD"))
    return database_url


def sent(url: str, *records: dict[str, Any], profile_id: str = PROFILE, dataset: str = "conversions") -> Accepted:
    with transaction(url) as session:
        return accept(session, profile_id=profile_id, dataset=dataset, records=records)


def kept(url: str) -> int:
    with transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(IngestedRecord)) or 0


def test_a_record_is_kept_once_however_often_it_comes(url: str) -> None:
    assert sent(url, record("conversions")) == Accepted(accepted=1)
    # equal after typing: the same instant and amount in other words
    assert sent(url, record("conversions", value=12.5, occurred_at="2026-11-01T11:00:00+01:00")) == Accepted(
        duplicates=1
    )
    assert kept(url) == 1


def test_other_content_under_a_taken_key_is_a_conflict_and_the_first_stays(url: str) -> None:
    sent(url, record("conversions"))
    outcome = sent(url, record("conversions", conversion_key="c2"), record("conversions", value="13"))
    assert (outcome.accepted, outcome.conflicts) == (1, [Conflict(2, "c1")])
    with transaction(url) as session:
        first = session.scalars(sa.select(IngestedRecord).where(IngestedRecord.record_key == "c1")).one()
        assert first.record["value"] == "12.50"


def test_repetitions_within_one_call_are_seen(url: str) -> None:
    first = record("conversions")
    outcome = sent(url, first, dict(first), record("conversions", value="13"))
    assert outcome == Accepted(accepted=1, duplicates=1, conflicts=[Conflict(3, "c1")])


def test_rejected_records_are_told_and_not_kept(url: str) -> None:
    outcome = sent(url, record("conversions", currency="BTC"), record("conversions", conversion_key="c2"))
    assert (outcome.accepted, [(one.line, one.field) for one in outcome.rejected]) == (1, [(1, "currency")])
    assert kept(url) == 1


def test_the_same_key_of_another_profile_or_set_is_another_record(url: str) -> None:
    sent(url, record("conversions"))
    assert sent(url, record("conversions"), profile_id=OTHER).accepted == 1
    assert sent(url, record("touches", touch_key="c1"), dataset="touches").accepted == 1


def test_keys_of_several_parts_do_not_run_together(url: str) -> None:
    values = [("a", "b,external_id,c"), ("a,external_id,b", "c")]
    kinds = {"kind_a": "external_id", "kind_b": "external_id"}
    records = [record("identities", **kinds, value_a=a, value_b=b) for a, b in values]
    long = record("identities", value_a="x" * 255, kind_b="external_id", value_b="y" * 255)
    assert sent(url, *records, long, dataset="identities").accepted == 3
    assert sent(url, long, dataset="identities").duplicates == 1


def test_fifty_at_once_with_one_key_are_one_record(url: str) -> None:
    with ThreadPoolExecutor(10) as pool:
        outcomes = list(pool.map(lambda _: sent(url, record("conversions")), range(50)))
    assert sum(outcome.accepted for outcome in outcomes) == 1
    assert sum(outcome.duplicates for outcome in outcomes) == 49
    assert kept(url) == 1


def test_what_the_caller_rolls_back_is_not_kept(url: str) -> None:
    with pytest.raises(ZeroDivisionError), transaction(url) as session:
        accept(session, profile_id=PROFILE, dataset="conversions", records=[record("conversions")])
        _ = 1 / 0
    assert kept(url) == 0


def test_twelve_thousand_records_are_accepted_in_seconds(url: str) -> None:
    started = time.process_time()
    records = [record("touches", touch_key=f"t{number}") for number in range(12_000)]
    assert sent(url, *records, dataset="touches").accepted == 12_000
    assert time.process_time() - started < 10


def test_an_unknown_set_is_refused(url: str) -> None:
    with pytest.raises(KeyError):
        sent(url, record("touches"), dataset="person_names")
