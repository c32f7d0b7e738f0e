"""References just sent are found among the records since the last publication, not among those of all time."""

from __future__ import annotations

from datetime import timedelta

from api import customers, db
from api.models import IngestedRecord, Profile, Run
from tests.factories import accounts
from tests.fixtures.statements import statements

EARLIER = "00000000-0000-7000-8000-000000000001"


def sent(url: str, profile: Profile, reference: str, batch: str | None) -> None:
    with db.transaction(url) as session:
        told = {"dataset": "identities", "record_key": db.new_id(), "fingerprint": "f", "landed_batch": batch}
        session.add(IngestedRecord(profile_id=profile.id, record={"external_id": reference}, **told))


def found(url: str, profile: Profile, *references: str) -> set[str]:
    with db.transaction(url) as session:
        return customers.just_sent(session, profile.id, references)


def test_what_no_snapshot_holds_is_known_and_nothing_of_others(database_url: str) -> None:
    profile, other = accounts.profile(database_url), accounts.profile(database_url)
    names = ("published", "landed", "waiting", "foreign", "unnamed")
    sent(database_url, profile, "published", EARLIER)
    assert found(database_url, profile, *names) == {"published"}
    at = db.now() - timedelta(minutes=1)
    with db.transaction(database_url) as session:
        session.add(Run(started_at=at, published_at=at, snapshot_id="s"))
        session.flush()
        session.add(Run(started_at=db.now()))
    for reference, batch in (("landed", db.new_id()), ("waiting", None), ("unnamed", None)):
        sent(database_url, profile, reference, batch)
    for batch in (None, db.new_id()):
        sent(database_url, other, "foreign", batch)
    assert found(database_url, profile, *names[:-1]) == {"landed", "waiting"}


def test_records_of_before_the_publication_are_not_read(sqlite_url: str) -> None:
    # each event with an own reference read the 500,000 records of its profile, and nobody else could write meanwhile
    profile, at, engine = accounts.profile(sqlite_url), db.now(), db.engine_for(sqlite_url)
    with db.transaction(sqlite_url) as session:
        session.add(Run(started_at=at, published_at=at, snapshot_id="s"))
    with statements(engine) as run:
        found(sqlite_url, profile, "one")
    begun, asked = (one for one in run if "SELECT" in one[0])
    assert "max(" not in begun[0]
    with engine.connect() as connection:
        plan = [step.detail for step in connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1])]
    assert [step for step in plan if "ingested_records" in step] == [
        "SEARCH ingested_records USING INDEX ix_ingested_records_batch (landed_batch=? AND profile_id=?)",
        "SEARCH ingested_records USING INDEX ix_ingested_records_batch (landed_batch>?)",
    ]
