"""The transport alone: what it repeats, how long it waits, when it gives up, what it never says."""

from __future__ import annotations

import logging
import traceback
from typing import Any

import pytest

from connectors.errors import Malformed, OutOfTime, Refused, Revoked, Throttled, TooMuchData, Transient
from connectors.google_dialect import GoogleDialect
from connectors.meta_ads import MetaAds
from connectors.meta_dialect import MetaDialect
from connectors.redaction import redact
from connectors.shopify_graph import ShopifyDialect
from connectors.stripe import Stripe
from connectors.stripe_lists import StripeDialect
from connectors.tiktok_dialect import TikTokDialect
from connectors.transport import Answer, Dialect, Policy, Request, Transport, judge_status, retry_after
from sandbox.faces import TOKENS
from tests.connectors.conftest import POLICY
from tests.connectors.test_malformed import Scripted
from tests.fixtures.sandbox import RunningSandbox

ROUTE = "/campaigns$"


def ask(sandbox: RunningSandbox, transport: Transport) -> Answer:
    account = sandbox.world.accounts[0].id
    url = f"{sandbox.url}/meta/v26.0/act_{account}/campaigns"
    headers = {"Authorization": f"Bearer {TOKENS['meta']}"}
    return transport.send(Request("GET", url, {"fields": "name"}, headers=headers), MetaDialect())


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 500},
        {"kind": "status", "status": 503, "headers": {"Retry-After": "2"}},
        {"kind": "html"},
        {"kind": "html", "status": 200},
        {"kind": "truncation"},
        {"kind": "truncation", "message": "announced"},
        {"kind": "reset"},
        {"kind": "throttled", "wait": 60},
        {"kind": "code", "code": "2"},
    ],
    ids=lambda fault: "-".join(str(value) for value in fault.values() if not isinstance(value, dict)),
)
def test_a_passing_fault_is_survived_within_the_bound_of_attempts(
    sandbox: RunningSandbox, transport: Transport, fault: dict[str, Any]
) -> None:
    sandbox.plan({"route": ROUTE, "times": 3, **fault})
    assert ask(sandbox, transport).body["data"]
    assert sandbox.hits() == [3]
    assert transport.requests == sandbox.calls() == 4


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "status", "status": 500}, Transient),
        ({"kind": "html", "status": 200}, Malformed),
        ({"kind": "reset"}, Transient),
        ({"kind": "throttled", "wait": 60}, Throttled),
    ],
)
def test_a_lasting_fault_ends_after_exactly_the_allowed_attempts(
    sandbox: RunningSandbox, transport: Transport, fault: dict[str, Any], error: type[Exception]
) -> None:
    sandbox.plan({"route": ROUTE, "times": None, **fault})
    with pytest.raises(error):
        ask(sandbox, transport)
    assert transport.requests == POLICY.attempts


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "revoked"}, Revoked),
        ({"kind": "code", "code": "200", "message": "Requires ads_read"}, Refused),
        ({"kind": "status", "status": 302, "code": "9", "headers": {"Location": "http://127.0.0.1:9/"}}, Refused),
    ],
)
def test_a_refusal_is_never_repeated(
    sandbox: RunningSandbox, transport: Transport, fault: dict[str, Any], error: type[Exception]
) -> None:
    sandbox.plan({"route": ROUTE, "times": None, **fault})
    with pytest.raises(error):
        ask(sandbox, transport)
    assert transport.requests == 1


def test_the_wait_a_platform_states_is_waited_out(
    sandbox: RunningSandbox, transport: Transport, slept: list[float]
) -> None:
    sandbox.plan({"route": ROUTE, "kind": "throttled", "wait": 120, "times": 1})
    ask(sandbox, transport)
    assert len(slept) == 1
    assert 120 <= slept[0] < 121


def test_a_wait_above_the_bound_is_handed_to_the_caller_at_once(
    sandbox: RunningSandbox, transport: Transport, slept: list[float]
) -> None:
    sandbox.plan({"route": ROUTE, "kind": "throttled", "wait": 180, "times": 1})
    with pytest.raises(Throttled) as caught:
        ask(sandbox, transport)
    assert caught.value.wait == 180
    assert (transport.requests, slept) == (1, [])


def test_a_lock_out_is_not_knocked_at(sandbox: RunningSandbox, transport: Transport) -> None:
    sandbox.plan({"route": ROUTE, "kind": "code", "code": "17", "subcode": 2446079, "times": None})
    with pytest.raises(Throttled):
        ask(sandbox, transport)
    assert transport.requests == 1


def test_a_nearly_used_up_quota_slows_the_next_request(
    sandbox: RunningSandbox, transport: Transport, slept: list[float]
) -> None:
    usage = '{"1": [{"call_count": 93, "total_cputime": 5, "total_time": 5, "estimated_time_to_regain_access": 0}]}'
    answer = Answer(200, {"x-business-use-case-usage": usage}, {}, True)
    assert MetaDialect().pause_after(answer) == 10.0
    headers = {"x-business-use-case-usage": usage}
    sandbox.plan({"route": ROUTE, "kind": "status", "status": 500, "times": 1, "headers": headers})
    ask(sandbox, transport)
    assert 10.0 in slept


@pytest.mark.parametrize(("used", "pause"), [(20, 0.0), (93.5, 10.0), (100, 45.0)])
def test_the_quota_of_the_ad_account_itself_is_left_alone_too(used: float, pause: float) -> None:
    # its header was not read: calls went on until the account was locked out
    usage = f'{{"acc_id_util_pct": {used}, "reset_time_duration": 45, "ads_api_access_tier": "standard_access"}}'
    answer = Answer(200, {"x-ad-account-usage": usage}, {}, True)
    assert MetaDialect().pause_after(answer) == pause


def test_a_refusal_for_the_quota_of_the_ad_account_is_waited_out_as_long_as_it_says(
    sandbox: RunningSandbox, transport: Transport, slept: list[float]
) -> None:
    usage = '{"acc_id_util_pct": 100, "reset_time_duration": 45}'
    over = {"status": 400, "code": "613", "subcode": 1487742, "headers": {"x-ad-account-usage": usage}}
    sandbox.plan({"route": ROUTE, "kind": "code", "times": 1, **over})
    ask(sandbox, transport)
    assert len(slept) == 1 and 45 <= slept[0] < 46


def test_no_answer_in_time_is_transient(sandbox: RunningSandbox) -> None:
    sandbox.plan({"route": ROUTE, "kind": "delay", "seconds": 20.0, "times": None})
    with Transport(Policy(attempts=2, read_timeout=0.1, first_backoff=0.001)) as hasty:
        with pytest.raises(Transient) as caught:
            ask(sandbox, hasty)
        assert (caught.value.reason, hasty.requests) == ("timeout", 2)


def test_an_answer_in_drips_is_given_up_although_it_is_never_silent(sandbox: RunningSandbox) -> None:
    # each time: an answer in one piece, too, may take a busy machine longer than the whole of it may
    sandbox.plan({"route": ROUTE, "kind": "drip", "seconds": 0.05, "times": None})
    with Transport(Policy(attempts=2, read_timeout=20, whole_timeout=0.1, first_backoff=0.001)) as hasty:
        with pytest.raises(Transient) as caught:
            ask(sandbox, hasty)
        assert (caught.value.reason, hasty.requests) == ("timeout", 2)


def test_an_answer_without_end_is_cut_off(sandbox: RunningSandbox) -> None:
    with Transport(Policy(attempts=3, largest_body=100)) as narrow:
        with pytest.raises(TooMuchData, match="too large"):
            ask(sandbox, narrow)
        # it would be as large again
        assert narrow.requests == 1


def test_jitter_stays_between_nothing_and_the_growing_bound(sandbox: RunningSandbox, slept: list[float]) -> None:
    sandbox.plan({"route": ROUTE, "kind": "status", "status": 500, "times": None})
    policy = Policy(attempts=6, first_backoff=1.0, longest_backoff=3.0)
    with Transport(policy, sleep=slept.append) as patient, pytest.raises(Transient):
        ask(sandbox, patient)
    assert len(slept) == 5
    assert all(0 <= wait <= bound for wait, bound in zip(slept, (1, 2, 3, 3, 3), strict=True))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "17"}, 17.0),
        ({"retry-after": "2.0"}, 2.0),
        ({"retry-after": "Mon, 16 Nov 2026 10:00:30 GMT", "date": "Mon, 16 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 16 Nov 2026 09:59:00 GMT", "date": "Mon, 16 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "1.2.3"}, None),
        ({"retry-after": "\u00b2"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_both_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(Answer(429, headers, None, False)) == seconds


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (MetaDialect(), {"error": {"code": 999, "message": "slow down"}}),
        (GoogleDialect(), {"error": "rate_limit_exceeded"}),
        (GoogleDialect(), {"error": {"code": 429, "message": "slow down", "status": "SLOW_DOWN"}}),
        (TikTokDialect(), {"code": 99, "message": "slow down"}),
        (ShopifyDialect(), {"errors": "slow down"}),
        (StripeDialect(), {"error": {"message": "slow down"}}),
    ],
)
def test_a_429_asks_for_a_wait_whatever_its_body_calls_it(dialect: Dialect, body: Any) -> None:
    # an error that nobody knew was taken for a refusal, Google's tokens' for one of the deployment's own app
    with pytest.raises(Throttled) as caught:
        Scripted([Answer(429, {"retry-after": "7"}, body, True)]).send(Request("GET", "http://127.0.0.1:9"), dialect)
    assert caught.value.wait == 7.0


def test_a_503_that_names_a_wait_is_a_throttle_and_one_without_is_not() -> None:
    with pytest.raises(Throttled):
        judge_status(Answer(503, {"retry-after": "3"}, None, False), "any")
    with pytest.raises(Transient):
        judge_status(Answer(503, {}, None, False), "any")


def test_the_token_and_its_proof_are_in_no_message_log_or_repr(
    sandbox: RunningSandbox, caplog: pytest.LogCaptureFixture, slept: list[float]
) -> None:
    token = TOKENS["meta"]
    sandbox.plan({"route": ROUTE, "kind": "code", "code": "100", "message": f"bad access_token={token}", "times": 1})
    caplog.set_level(logging.DEBUG)
    with Transport(POLICY, sleep=slept.append) as transport:
        meta = MetaAds(f"{sandbox.url}/meta", token, sandbox.world.accounts[0].id, transport, app_secret="hush-hush")
        with pytest.raises(Refused) as caught:
            meta.entities()
        said = [str(caught.value), repr(caught.value), repr(meta), repr(vars(meta)), caplog.text]
        said.append("".join(traceback.format_exception(caught.value)))
    everything = "\n".join(said)
    assert "HTTP Request" in caplog.text
    assert token not in everything
    assert "hush-hush" not in everything
    proofs = [line for line in everything.splitlines() if "appsecret_proof=" in line]
    assert proofs
    assert all("appsecret_proof=[redacted]" in line for line in proofs)


@pytest.mark.parametrize("code", [100, "no_hush"], ids=["meta", "stripe"])
def test_a_token_that_a_provider_repeats_is_hidden_whatever_its_shape(code: int | str) -> None:
    wire = Scripted([Answer(400, {}, {"error": {"message": "no hush", "code": code}}, True)])
    with pytest.raises(Refused, match=r"no \[redacted\]") as caught:
        MetaAds("http://x", "hush", "1", wire).entities() if code == 100 else Stripe(
            "http://x", "hush", wire
        ).payments()
    assert "hush" not in repr(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "GET /v26.0/me?access_token=EAAB1234567890abcdefg&limit=1",
        '{"access_token": "anything at all", "x": 1}'.replace(" at all", ""),
        "Authorization: Bearer abc.def-ghi",
        "key sk_test_notarealkey0001 was refused",
        "shpat_0123456789abcdef is dead",
        "GET /oauth/access_token?fb_exchange_token=anything",
        "GET /oauth2/advertiser/get/?app_id=1&secret=anything&x=1",
    ],
)
def test_strings_shaped_like_credentials_are_hidden(text: str) -> None:
    hidden = redact(text)
    assert "[redacted]" in hidden
    assert not any(part in hidden for part in ("EAAB1234", "anything", "abc.def", "notarealkey", "0123456789abcdef"))


def test_a_wait_longer_than_the_time_left_is_not_begun(sandbox: RunningSandbox, slept: list[float]) -> None:
    sandbox.plan({"route": ROUTE, "kind": "throttled", "wait": 60})
    with Transport(POLICY, within=30, sleep=slept.append) as hurried, pytest.raises(Throttled):
        ask(sandbox, hurried)
    assert slept == [] and sandbox.calls() == 1


def test_when_the_time_is_over_nothing_is_sent(sandbox: RunningSandbox) -> None:
    sandbox.plan()
    with Transport(POLICY, within=0) as late, pytest.raises(OutOfTime):
        ask(sandbox, late)
    assert (sandbox.calls(), late.requests) == (0, 0)


def test_a_pause_that_would_end_too_late_is_refused_before_it_begins(slept: list[float]) -> None:
    with Transport(POLICY, within=5, sleep=slept.append) as hurried:
        hurried.sleep(1)
        with pytest.raises(OutOfTime):
            hurried.sleep(6)
    assert slept == [1]
