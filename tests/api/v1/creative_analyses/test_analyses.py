"""POST /ads/{id}/creative-analysis and GET /creative-analyses/{jobId}: repeats, allowances, refusals."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.creative_analysis.working import analyse_due
from api.models import AuditEntry, CreativeAnalysis, Profile, RateUse
from api.roles import Role
from api.scopes import Scope
from api.snapshot import snapshots
from tests.api.conftest import Caller
from tests.factories import accounts, people, served
from tests.factories.deployments import application, settings_of
from touchledger.settings import Settings

START = datetime(2026, 3, 10, 12, tzinfo=UTC)
ADS = 40


def ad_id(number: int) -> str:
    return f"aaaaaaaa-0000-8000-8000-{number:012d}"


def tables(profiles: list[Profile], **creative: Any) -> dict[str, list[dict[str, Any]]]:
    """Forty ads of each profile, with creatives of their own; the last shows nothing that is known."""
    found: dict[str, list[dict[str, Any]]] = {"profiles": [], "entities": [], "ad_creatives": []}
    for key, profile in enumerate(profiles, start=1):
        found["profiles"].append(
            {"profile_key": key, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
        )
        for number in range(ADS):
            own = {"profile_key": key, "entity_key": key * 100 + number}
            id_ = ad_id(key * 100 + number)
            found["entities"].append(
                {**own, "level": "ad", "entity_id": id_, "platform": "meta", "platform_id": id_[-4:]}
            )
            shown = {
                "format": "image",
                "title": "Why?",
                "call_to_action": "SHOP_NOW",
                "creative_hash": f"hash-{number}",
            }
            found["ad_creatives"].append({**own, **shown, **creative} if number < ADS - 1 else own)
    return found


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def published(settings: Settings, profile: Profile) -> Iterator[Settings]:
    served.publish(settings.published, tables([profile]))
    yield settings
    snapshots(settings).close()


@pytest.fixture
def writer(published: Settings, clock: object, caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CREATIVES_WRITE])


def ask(caller: Caller, number: int, key: int = 1) -> Any:
    return caller.post(f"/ads/{ad_id(key * 100 + number)}/creative-analysis", json={})


def refusal(answer: Any) -> tuple[int, str, str | None]:
    error = answer.get_json()["error"]
    return answer.status_code, error["code"], error.get("reason")


def forget_calls(settings: Settings) -> None:
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.delete(RateUse))


def jobs(settings: Settings) -> int:
    with db.transaction(settings.operational_url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(CreativeAnalysis)) or 0


def test_an_analysis_is_queued_worked_off_and_told(writer: Caller, settings: Settings) -> None:
    asked = ask(writer, 0)
    assert asked.status_code == 202
    queued = asked.get_json()["data"]
    assert queued == {
        "job_id": queued["job_id"], "ad_id": ad_id(100), "ad_external_id": "0100", "status": "queued",
        "reused": False, "creative_hash": "hash-0", "requested_at": "2026-03-10T12:00:00.000Z", "finished_at": None,
        "failure_reason": None, "result": None,
    }  # fmt: skip
    analyse_due(settings)
    done = writer.get(f"/creative-analyses/{queued['job_id'].upper()}").get_json()["data"]
    assert done == {
        **queued, "status": "succeeded", "finished_at": "2026-03-10T12:00:00.000Z",
        "result": {
            "hook_type": "question", "creative_format": "static", "cta_type": "shop_now", "primary_angle": None,
            "offers": [], "language": None, "confidence": 0.6625, "analyzer": "rules/2",
        },
    }  # fmt: skip


def test_a_repeat_within_24_hours_is_the_same_job_under_either_id_and_counts_nowhere(
    writer: Caller, settings: Settings, clock: time_machine.Traveller
) -> None:
    first = ask(writer, 0).get_json()["data"]
    clock.shift(timedelta(hours=24, microseconds=-1))
    for _ in range(40):
        again = writer.post("/ads/0100/creative-analysis", json={})
        assert (again.status_code, again.get_json()["data"]) == (200, {**first, "reused": True})
    clock.shift(timedelta(microseconds=1))
    again = ask(writer, 0)
    assert again.status_code == 202
    assert again.get_json()["data"]["job_id"] != first["job_id"]
    with db.transaction(settings.operational_url) as session:
        entries = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)).all()
        told = {(one.action, one.outcome) for one in entries}
        assert told == {("creative_analysis.requested", "done"), ("creative_analysis.requested", "no_change")}
        assert entries[0].details == {
            "target": {"kind": "creative_analysis", "id": first["job_id"], "label": None},
            "after": {"ad_external_id": "0100", "creative_hash": "hash-0"},
        }


def test_a_failed_job_and_a_changed_creative_are_no_repeat(
    writer: Caller, settings: Settings, profile: Profile
) -> None:
    first = ask(writer, 0).get_json()["data"]["job_id"]
    with db.transaction(settings.operational_url) as session:
        session.get_one(CreativeAnalysis, first).status = "failed"
    second = ask(writer, 0)
    assert (second.status_code, jobs(settings)) == (202, 2)
    served.publish(settings.published, tables([profile], creative_hash="another"), token=2)
    third = ask(writer, 0)
    assert (third.status_code, third.get_json()["data"]["creative_hash"]) == (202, "another")


def test_a_profile_has_20_analyses_a_utc_day_and_learns_when_the_next_begins(
    writer: Caller, published: Settings, clock: time_machine.Traveller
) -> None:
    clock.move_to(datetime(2026, 3, 10, 23, 59, 1, 500000, tzinfo=UTC))
    assert [ask(writer, number).status_code for number in range(20)] == [202] * 20
    refused = ask(writer, 20)
    assert refusal(refused) == (429, "rate_limit_exceeded", "analysis_daily_profile")
    assert refused.headers["Retry-After"] == "59"
    assert ask(writer, 19).status_code == 200
    assert jobs(published) == 20
    clock.shift(timedelta(seconds=59))
    assert ask(writer, 20).status_code == 202


def test_thirty_calls_an_hour_whatever_becomes_of_them(
    writer: Caller, published: Settings, clock: time_machine.Traveller
) -> None:
    assert [ask(writer, number).status_code for number in range(22)] == [202] * 20 + [429] * 2
    assert refusal(ask(writer, ADS - 1)) == (409, "invalid_state", "no_creative")
    assert [refusal(ask(writer, 99))[:2] for _ in range(7)] == [(404, "not_found")] * 7
    for number in (21, ADS - 1, 99):
        assert refusal(ask(writer, number)) == (429, "rate_limit_exceeded", "analysis_calls_hourly")
    assert 0 < int(ask(writer, 21).headers["Retry-After"]) <= 3600
    assert ask(writer, 0).status_code == 200
    assert int(ask(writer, 0).headers["X-RateLimit-Remaining"]) == 60


def test_a_credential_has_100_analyses_a_day_over_all_its_profiles(
    published: Settings, profile: Profile, clock: object, writer: Caller
) -> None:
    url = published.operational_url
    with db.transaction(url) as session:
        more = [
            Profile(workspace_id=profile.workspace_id, name=f"P{n}", timezone="UTC", reporting_currency="USD")
            for n in range(5)
        ]
        session.add_all(more)
    served.publish(published.published, tables([profile, *more]), token=2)
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id, Role.EDITOR)
    person = Caller(writer.client, people.session_of(url, ada))

    def by_person(key: int, number: int) -> Any:
        forget_calls(published)
        named = {"profile_id": [profile, *more][key - 1].id}
        return person.post(f"/ads/{ad_id(key * 100 + number)}/creative-analysis", json={}, query_string=named)

    # twenty a profile: five profiles are the hundred
    assert {by_person(key, number).status_code for key in range(1, 6) for number in range(20)} == {202}
    assert refusal(by_person(6, 0)) == (429, "rate_limit_exceeded", "analysis_daily_key")
    assert by_person(1, 0).status_code == 200


def test_the_same_key_gets_the_same_answer(writer: Caller, settings: Settings) -> None:
    path, key = f"/ads/{ad_id(100)}/creative-analysis", {"Idempotency-Key": "once"}
    first = writer.post(path, json={}, headers=key)
    again = writer.post(path, json={}, headers=key)
    assert again.get_json() == first.get_json()
    assert (again.status_code, again.headers["Idempotent-Replayed"], jobs(settings)) == (202, "true", 1)


def test_refusals_come_in_their_order(
    writer: Caller, anonymous: Caller, caller: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/ads/{ad_id(100)}/creative-analysis"
    assert anonymous.post(path, json={}).status_code == 401
    assert refusal(caller.post(path, json={}))[:2] == (403, "insufficient_scope")
    assert refusal(writer.post(path, json={"deep": True}))[:2] == (422, "validation_error")
    assert refusal(writer.get("/creative-analyses/12"))[:2] == (400, "invalid_parameter")
    assert refusal(writer.get(f"/creative-analyses/{ad_id(1)}"))[:2] == (404, "not_found")
    off = settings.model_copy(update={"creative_analyser": "off"})
    monkeypatch.setitem(writer.client.application.config, "SETTINGS", off)
    assert refusal(writer.post(path, json={}))[:2] == (501, "not_implemented")


def test_another_profiles_ads_and_jobs_are_unknown(writer: Caller, settings: Settings) -> None:
    job_id = ask(writer, 0).get_json()["data"]["job_id"]
    other = accounts.profile(settings.operational_url, name="Other")
    secret = accounts.secret(settings.operational_url, other, scopes=[Scope.CREATIVES_WRITE])
    stranger = Caller(writer.client, secret)
    assert refusal(ask(stranger, 0))[:2] == (404, "not_found")
    assert refusal(stranger.get(f"/creative-analyses/{job_id}"))[:2] == (404, "not_found")


@pytest.fixture
def at_once(database_url: str, home: Path) -> Iterator[tuple[Settings, Caller]]:
    settings = settings_of(home, database_url)
    of = accounts.profile(database_url)
    served.publish(settings.published, tables([of]))
    secret = accounts.secret(database_url, of, scopes=[Scope.CREATIVES_WRITE])
    yield settings, Caller(application(settings).test_client(), secret)
    snapshots(settings).close()


def together(asked: list[Callable[[], Any]]) -> list[int]:
    statuses: list[int] = []

    def run(one: Callable[[], Any]) -> None:
        statuses.append(one().status_code)

    threads = [threading.Thread(target=run, args=(one,)) for one in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(statuses)


def test_allowances_are_exact_for_calls_at_one_moment(at_once: tuple[Settings, Caller]) -> None:
    settings, caller = at_once

    def each(numbers: list[int]) -> list[Callable[[], Any]]:
        clients = [Caller(caller.client.application.test_client(), caller.secret) for _ in numbers]
        return [partial(ask, one, number) for one, number in zip(clients, numbers, strict=True)]

    assert together(each([0] * 6)) == [200] * 5 + [202]
    assert together(each(list(range(1, 25)))) == [202] * 19 + [429] * 5
    assert jobs(settings) == 20
    # the six were one call, the 24 were 24: five are left
    assert together(each([99] * 8)) == [404] * 5 + [429] * 3
