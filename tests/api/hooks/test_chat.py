"""Deliveries of the chat app: signed over the bytes; a message that an ad led to is a touch and an outcome, once."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient
from pydantic import SecretStr

from api import db
from api.http import Application
from api.models import Connection, IngestedRecord, Profile
from data_contracts.contract import inbound
from data_contracts.judge import judge
from orchestration.ingested import land_ingested
from orchestration.lake import Lake
from sandbox.chat_messages import delivery, message
from sandbox.chatapp import ACCOUNT
from tests.factories import accounts
from tests.factories.erasures import forget
from tests.fixtures.sandbox import RunningSandbox, served
from touchledger.settings import Settings

SECRET, WORD = "the-apps-secret", "a-word-both-know"
AT = 1_772_323_200
SETS = ("ad_referrals", "conversions")
UNKNOWN = "01900000-0000-7000-8000-000000000000"

Deliver = Callable[..., Any]


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url)


@pytest.fixture
def connection(settings: Settings, profile: Profile) -> Connection:
    with db.transaction(settings.operational_url) as session:
        made = Connection(profile_id=profile.id, provider="chatapp", kind="messaging", external_account_id=ACCOUNT)
        made.display_name, made.base_url, made.token = "Alder & Finch", "http://127.0.0.1:9", "t"
        session.add(made)
    return made


@pytest.fixture
def client(assembled: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    secrets = {"meta_app_secret": SecretStr(SECRET), "chat_verify_token": SecretStr(WORD)}
    monkeypatch.setitem(assembled.config, "SETTINGS", settings.model_copy(update=secrets))
    return assembled.test_client()


@pytest.fixture
def deliver(client: FlaskClient, connection: Connection) -> Deliver:
    def sent(
        *messages: dict[str, Any], to: str | None = None, body: bytes | None = None, signature: str = "", **options: Any
    ) -> int:
        content, headers = delivery(list(messages), **{"secret": SECRET, **options})
        headers |= {"X-Hub-Signature-256": signature} if signature else {}
        address = f"/hooks/chat/{to or connection.id}"
        return client.post(address, data=content if body is None else body, headers=headers).status_code

    return sent


def kept(settings: Settings, dataset: str) -> list[dict[str, Any]]:
    with db.transaction(settings.operational_url) as session:
        chosen = sa.select(IngestedRecord).where(IngestedRecord.dataset == dataset).order_by(IngestedRecord.id)
        rows = [dict(one.record) for one in session.scalars(chosen)]
    assert not judge(inbound()[dataset], rows).rejected
    return rows


def test_a_message_from_an_ad_is_a_live_referral_and_a_started_conversation(
    deliver: Deliver, settings: Settings
) -> None:
    assert deliver(message("HBgLMTQxNTU1", "14155550123", AT, ad_id="120", click_id="click-1")) == 200
    (referral,), (outcome,) = kept(settings, "ad_referrals"), kept(settings, "conversions")
    facts = {"ad_id": "120", "ad_platform": "meta", "channel": "chatapp", "click_id": "click-1", "seen_live": True}
    said = {"phone": "+14155550123", "occurred_at": "2026-03-01T00:00:00+00:00"}
    assert referral.items() >= {**facts, **said}.items()
    assert outcome.items() >= {"conversion_type": "dm_started", "source": "chat", **said}.items()
    assert outcome["conversation_id"] == referral["conversation_id"]
    assert "Kerry" not in json.dumps([referral, outcome]) and "HBgL" not in json.dumps([referral, outcome])


def test_what_comes_again_changes_nothing_and_another_click_is_another_conversation(
    deliver: Deliver, settings: Settings
) -> None:
    first = message("1", "14155550123", AT, ad_id="120", click_id="click-1")
    again = message("2", "14155550123", AT + 60, ad_id="120", click_id="click-1")
    other = message("3", "14155550123", AT + 90, ad_id="121", click_id="click-2")
    for messages in ([first], [first], [again, first], [other]):
        assert deliver(*messages) == 200
    outcomes = kept(settings, "conversions")
    assert [one["occurred_at"][11:19] for one in outcomes] == ["00:00:00", "00:01:30"]
    assert len({one["conversation_id"] for one in kept(settings, "ad_referrals")}) == 2


def test_messages_of_ads_that_tell_no_click_are_a_conversation_each(deliver: Deliver, settings: Settings) -> None:
    first, second = (message(number, f"1415555012{number}", AT, ad_id="120") for number in "12")
    del first["referral"]["ctwa_clid"], second["referral"]["ctwa_clid"]
    for _ in range(2):
        assert deliver(first, second) == 200
    assert len({one["conversation_id"] for one in kept(settings, "ad_referrals")}) == 2
    assert ["click_id" in one for one in kept(settings, "ad_referrals")] == [False] * 2
    assert len(kept(settings, "conversions")) == 2


@pytest.mark.parametrize("torn", ["Kerry \ud83e", "Ker\x00ry", "\udde5"])
def test_a_text_cut_in_the_middle_of_a_character_costs_no_message(
    deliver: Deliver, settings: Settings, torn: str
) -> None:
    # the delivery was refused as no JSON each time it came, and with it every message in it
    cut = message("2", "14155550124", AT, ad_id="120", click_id="click-2")
    cut["referral"] = {**cut["referral"], "headline": torn}
    content, _ = delivery([cut], secret=SECRET)
    assert json.dumps(torn)[1:-1].encode() in content
    assert deliver(message("1", "14155550123", AT, ad_id="120", click_id="click-1"), cut) == 200
    assert {one["phone"] for one in kept(settings, "ad_referrals")} == {"+14155550123", "+14155550124"}


def test_somebody_in_mexico_is_known_by_the_number_of_today(deliver: Deliver, settings: Settings) -> None:
    # the chat app goes on to name mobiles there by the 1 that was abolished in 2019
    assert deliver(message("1", "5215512345678", AT, ad_id="120")) == 200
    landing = [*kept(settings, "ad_referrals"), *kept(settings, "conversions")]
    phones = [judge(inbound()[name], [one]).rows[0]["phone"] for name, one in zip(SETS, landing, strict=True)]
    assert phones == ["+525512345678"] * 2


@pytest.mark.parametrize("hidden", ["US.13491208655302741918", "BR.ENT.11815799212886844830"])
def test_somebody_who_hides_their_number_is_known_by_the_id_that_the_chat_app_tells(
    deliver: Deliver, settings: Settings, profile: Profile, hidden: str
) -> None:
    first, again = (message(number, hidden, AT, ad_id="120", click_id="click-1") for number in ("1", "2"))
    content, _ = delivery([first], secret=SECRET)
    assert hidden.encode() in content and b'"from"' not in content
    assert deliver(first) == 200
    (referral,), (outcome,) = kept(settings, "ad_referrals"), kept(settings, "conversions")
    assert {one["anonymous_id"] for one in (referral, outcome)} == {f"chatapp:{hidden}"}
    assert (referral["ad_id"], outcome["conversion_type"], "phone" in referral) == ("120", "dm_started", False)
    # the id may stand where numbers do, too
    assert deliver({**again, "from": hidden}) == 200
    assert {one["anonymous_id"] for one in kept(settings, "ad_referrals")} == {f"chatapp:{hidden}"}
    assert len(kept(settings, "conversions")) == 1


def test_an_id_that_was_erased_is_nobody(deliver: Deliver, settings: Settings, profile: Profile) -> None:
    forget(settings, profile.id, ("anonymous_id", "chatapp:US.13491208655302741918"))
    assert deliver(message("1", "US.13491208655302741918", AT, ad_id="120")) == 200
    assert kept(settings, "ad_referrals") == []


def test_a_number_that_is_not_known_to_be_possible_goes_to_quarantine_and_is_not_lost(
    deliver: Deliver, settings: Settings, home: Path
) -> None:
    one = message("1", "99912345678", AT, ad_id="120")
    for _ in range(2):
        assert deliver(one) == 200
    lake = Lake(home / "lake")
    lake.prepare()
    landings = land_ingested(settings.operational_url, lake)
    assert sorted((one.dataset, one.rows_in, one.rows_quarantined) for one in landings) == [
        ("ad_referrals", 1, 1), ("conversions", 1, 1),
    ]  # fmt: skip
    (bad,) = landings[0].bad_rows(10)
    assert bad == {"row": 1, "field": "phone", "reason": "not a phone number with its country code"}


def test_what_is_wrong_about_somebody_who_hides_their_number_is_not_lost_either(
    deliver: Deliver, settings: Settings, home: Path
) -> None:
    # it was answered as kept, and lay nowhere
    assert deliver(message("1", "US.13491208655302741918", 5, ad_id="120")) == 200
    lake = Lake(home / "lake")
    lake.prepare()
    landings = land_ingested(settings.operational_url, lake)
    assert [(one.dataset, one.rows_quarantined, one.bad_rows(1)[0]["field"]) for one in landings] == [
        ("ad_referrals", 1, "occurred_at"), ("conversions", 1, "occurred_at"),
    ]  # fmt: skip


def test_a_delivery_as_large_as_the_chat_app_makes_them_is_kept_whole(deliver: Deliver, settings: Settings) -> None:
    # above a mebibyte it was refused each time it came, and of more than 500 conversations the rest were left out
    written = [message(str(one), f"1415555{one:04}", AT, ad_id="120") for one in range(600)]
    written += [{**message(f"more-{one}", "14155550123", AT), "text": {"body": "x" * 4_000}} for one in range(400)]
    assert len(delivery(written, secret=SECRET)[0]) > 3 * 600_000
    assert deliver(*written) == 200
    assert len(kept(settings, "ad_referrals")) == len(kept(settings, "conversions")) == 600


def test_a_message_of_an_erased_number_is_nobodys_and_in_no_quarantine(
    deliver: Deliver, settings: Settings, profile: Profile
) -> None:
    forget(settings, profile.id, ("phone", "+14155550123"))
    assert deliver(message("1", "14155550123", AT, ad_id="120")) == 200
    assert kept(settings, "ad_referrals") == []


def test_other_messages_and_other_news_are_answered_and_not_kept(deliver: Deliver, settings: Settings) -> None:
    posted = message("1", "14155550123", AT, ad_id="120")
    posted["referral"]["source_type"] = "post"
    nobody, nameless = message("2", "", AT, ad_id="120"), message("3", "14155550123", AT, ad_id="a" * 200)
    assert deliver(message("4", "14155550123", AT), posted, nobody, nameless) == 200
    assert kept(settings, "ad_referrals") == kept(settings, "conversions") == []


def test_of_a_delivery_only_what_is_a_message_to_the_connections_own_account_is_kept(
    deliver: Deliver, settings: Settings
) -> None:
    ours, others = message("1", "14155550123", AT, ad_id="120"), message("2", "14155550124", AT, ad_id="121")
    body = json.loads(delivery([ours], secret=SECRET)[0])
    echoed, foreign = (
        json.loads(delivery([others], secret=SECRET, account=of)[0])["entry"][0] for of in (ACCOUNT, "9")
    )
    echoed["changes"][0]["field"] = "history"
    told = [foreign, echoed, {"id": ACCOUNT, "changes": [{"field": "messages", "value": None}]}, *body["entry"]]
    content = json.dumps({**body, "entry": told}).encode()
    signature = "sha256=" + hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
    assert deliver(body=content, signature=signature) == 200
    assert [one["phone"] for one in kept(settings, "ad_referrals")] == ["+14155550123"]


def test_a_clock_ahead_of_ours_makes_no_visit_of_tomorrow(deliver: Deliver, settings: Settings) -> None:
    with time_machine.travel("2026-03-02T00:00:00Z", tick=False):
        for number, at in (("1", AT + 36 * 3_600), ("2", 10**30), ("3", "soon")):
            assert deliver({**message(number, "14155550123", AT, ad_id="120"), "timestamp": str(at)}) == 200
    assert [one["occurred_at"] for one in kept(settings, "ad_referrals")] == ["2026-03-02T00:00:00+00:00"] * 3


def test_only_signed_deliveries_of_the_connections_own_account_are_taken(
    deliver: Deliver, settings: Settings, connection: Connection, client: FlaskClient
) -> None:
    one = message("1", "14155550123", AT, ad_id="120")
    for body in (b"{}", b"", delivery([one], secret=SECRET)[0] + b" "):
        assert deliver(one, body=body) == 401
    assert deliver(one, secret="another") == 401
    assert client.post(f"/hooks/chat/{connection.id}", data=b"{}").status_code == 401
    assert [deliver(one, to=where) for where in (UNKNOWN, "x")] == [404, 404]
    assert deliver(one, account="999") == 404
    assert kept(settings, "ad_referrals") == []


def test_what_is_signed_and_no_delivery_is_refused(client: FlaskClient, connection: Connection) -> None:
    for body in (b"[]", b"{", b'{"entry": 1}', b"null"):
        signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        answer = client.post(f"/hooks/chat/{connection.id}", data=body, headers={"X-Hub-Signature-256": signature})
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_request"), body


def test_a_disconnected_account_and_an_archived_profile_are_told_nothing_more(
    deliver: Deliver, settings: Settings, connection: Connection, profile: Profile
) -> None:
    one = message("1", "14155550123", AT, ad_id="120")
    with db.transaction(settings.operational_url) as session:
        session.get_one(Connection, connection.id).status = "disconnected"
    assert deliver(one) == 200
    with db.transaction(settings.operational_url) as session:
        session.get_one(Connection, connection.id).status = "healthy"
        session.get_one(Profile, profile.id).archived_at = db.now()
    assert deliver(one) == 200
    assert kept(settings, "ad_referrals") == []


def test_the_address_is_proved_by_the_word_that_was_agreed(
    client: FlaskClient, connection: Connection, assembled: Application, settings: Settings
) -> None:
    def asked(word: str, challenge: str = "1158201444", mode: str = "subscribe", of: str = connection.id) -> Any:
        query = {"hub.mode": mode, "hub.verify_token": word, "hub.challenge": challenge}
        return client.get(f"/hooks/chat/{of}", query_string=query)

    proved = asked(WORD)
    assert (proved.status_code, proved.text, proved.mimetype) == (200, "1158201444", "text/plain")
    refused = [asked("other"), asked(WORD, mode="unsubscribe"), asked(WORD, "<b>"), asked(WORD, of=UNKNOWN)]
    assert [one.status_code for one in refused] == [401, 401, 401, 404]
    assembled.config["SETTINGS"] = settings
    assert asked(WORD).status_code == 503
    assert client.post(f"/hooks/chat/{connection.id}", data=b"{}").status_code == 503


def test_the_sandbox_delivers_what_people_write(
    client: FlaskClient, sandbox: RunningSandbox, connection: Connection, settings: Settings
) -> None:
    with served(client.application) as url:
        written = {"number": "1", "sender": "14155550123", "at": AT, "ad_id": "120"}
        asked = {"to": f"{url}/hooks/chat/{connection.id}", "secret": SECRET, "times": 2, "messages": [written]}
        told = httpx.post(f"{sandbox.url}/__sandbox__/chatapp/messages", json=asked, trust_env=False).json()
    assert told == {"answers": [200, 200]}
    assert len(kept(settings, "ad_referrals")) == len(kept(settings, "conversions")) == 1
