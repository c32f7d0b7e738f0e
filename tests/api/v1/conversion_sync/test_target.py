"""POST /conversion-sync/platform-safe/target, against the sandbox's ad accounts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.exports import consent
from api.models import AuditEntry, Connection, DatasetTarget, ExportDestination, Profile, Workspace, Writeback
from api.scopes import Scope
from connectors.meta_datasets import MetaDatasets
from connectors.transport import Transport
from sandbox.meta_conversions import MESSAGING
from tests.api.conftest import Caller
from tests.api.v1.profiles.conftest import Ask, refusal
from tests.factories import connected, exports, people
from tests.fixtures.sandbox import RunningSandbox
from tests.fixtures.waiting import AT_MOST

PATH = "/conversion-sync/platform-safe/target"


@pytest.fixture
def key(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.EXPORTS_WRITE])


@pytest.fixture
def safe(url: str, profile: Profile) -> Profile:
    with db.transaction(url) as session:
        session.get_one(Profile, profile.id).privacy_mode = "platform_safe"
    return profile


@pytest.fixture
def via(url: str, safe: Profile, sandbox: RunningSandbox) -> Connection:
    return connected.to_meta(url, safe, sandbox.url)


def data(response: Any) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.get_json()["data"]
    return found


def delivering_on(sandbox: RunningSandbox, dataset_id: str) -> None:
    """Make one ad set of the first account optimise on a dataset and deliver."""
    account = sandbox.world.accounts[0].id
    ad_set = next(one for one in sandbox.world.ad_sets if one.account_id == account)
    sandbox.set(ad_set.campaign_id, status="ACTIVE")
    sandbox.set(ad_set.id, status="ACTIVE", effective_status="ACTIVE", promoted_object={"pixel_id": dataset_id})


def test_a_clean_dataset_is_made_once_and_destinations_are_turned_to_it(
    key: Caller, url: str, profile: Profile, via: Connection, sandbox: RunningSandbox
) -> None:
    fed = exports.destination(url, profile, via, target=sandbox.pixel_id())
    sandbox.demand_secret()
    clean = data(key.post(PATH, json={"target": "clean"}))
    assert (clean["previous_target"], clean["changed"], clean["live_ad_sets"]) == ("existing", True, 0)
    assert clean["dataset_external_id"] != sandbox.pixel_id()
    assert target_of(url, fed) == clean["dataset_external_id"]
    again = data(key.post(PATH, json={"target": "clean"}))
    assert (again["changed"], again["dataset_external_id"]) == (False, clean["dataset_external_id"])
    back = data(key.post(PATH, json={"target": "existing"}))
    assert (back["dataset_external_id"], target_of(url, fed)) == (sandbox.pixel_id(), sandbox.pixel_id())
    assert data(key.post(PATH, json={"target": "clean"}))["dataset_external_id"] == clean["dataset_external_id"]
    with db.transaction(url) as session:
        actions = session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions[:2] == ["dataset_target.asked", "dataset_target.changed"]


def test_of_two_who_choose_it_at_once_one_makes_it(key: Caller, via: Connection, sandbox: RunningSandbox) -> None:
    # neither saw the other's in the platform's list, and a second one took a slot for good
    asking = [Caller(key.client.application.test_client(), key.secret) for _ in range(2)]
    with ThreadPoolExecutor(1) as pool:
        with sandbox.holding("/adspixels$") as held:
            first = pool.submit(asking[0].post, PATH, json={"target": "clean"})
            assert held.acquire(timeout=AT_MOST)
            refused = asking[1].post(PATH, json={"target": "clean"})
        assert first.result().status_code == 200
    assert refusal(refused) == (429, "rate_limit_exceeded", "concurrency")
    assert refused.headers["Retry-After"] == "1"
    made = data(key.post(PATH, json={"target": "clean"}))
    assert datasets_of(via) == [sandbox.pixel_id(), made["dataset_external_id"]]


def datasets_of(via: Connection) -> list[str]:
    with Transport() as transport:
        return MetaDatasets(via.base_url, via.token, via.external_account_id, transport).datasets()


def target_of(url: str, of: ExportDestination) -> str:
    with db.transaction(url) as session:
        return session.get_one(ExportDestination, of.id).target


def test_going_back_is_refused_while_ad_sets_deliver_or_nobody_can_tell(
    key: Caller, via: Connection, sandbox: RunningSandbox
) -> None:
    clean = data(key.post(PATH, json={"target": "clean"}))["dataset_external_id"]
    refused = (409, "clean_dataset_has_live_ad_sets", None)
    sandbox.plan({"route": "/adsets$", "kind": "status", "status": 503, "times": None})
    unread = key.post(PATH, json={"target": "existing"})
    assert refusal(unread) == refused
    sandbox.plan()
    delivering_on(sandbox, clean)
    delivering = key.post(PATH, json={"target": "existing"})
    assert refusal(delivering) == refused
    told = [one.get_json()["error"]["message"] for one in (unread, delivering)]
    assert told == [
        "Whether ad sets still deliver on the clean dataset could not be read.",
        "Live ad sets still optimise on the clean dataset: 1.",
    ]
    confirmed = data(key.post(PATH, json={"target": "existing", "confirm_live_ad_sets": True}))
    assert (confirmed["live_ad_sets"], confirmed["changed"]) == (1, True)


def test_a_clean_dataset_is_for_platform_safe_profiles(key: Caller, profile: Profile) -> None:
    assert refusal(key.post(PATH, json={"target": "clean"})) == (409, "platform_safe_required", None)


def test_the_account_is_the_destinations_or_the_only_one(
    key: Caller, url: str, safe: Profile, sandbox: RunningSandbox
) -> None:
    missing = (409, "platform_connection_required", None)
    assert refusal(key.post(PATH, json={"target": "clean"})) == missing
    connected.to_meta(url, safe, sandbox.url)
    second = connected.to_meta(url, safe, sandbox.url, account=1)
    undecided = key.post(PATH, json={"target": "clean"})
    assert refusal(undecided) == missing
    assert undecided.get_json()["error"]["message"].endswith("say which by connection_id.")
    exports.destination(url, safe, second, target=sandbox.pixel_id(1))
    assert data(key.post(PATH, json={"target": "existing"}))["dataset_external_id"] == sandbox.pixel_id(1)
    assert refusal(key.post(PATH, json={"target": "clean", "connection_id": db.new_id()})) == (404, "not_found", None)


def test_an_account_that_somebody_began_to_connect_is_none_yet(
    key: Caller, url: str, via: Connection, safe: Profile, sandbox: RunningSandbox
) -> None:
    connected.to_meta(url, safe, sandbox.url, external_account_id="", status="pending", token="")
    assert data(key.post(PATH, json={"target": "existing"}))["dataset_external_id"] == sandbox.pixel_id()


def test_copying_ad_sets_needs_a_fresh_consent_and_is_not_done_here(
    key: Caller, ask: Ask, url: str, via: Connection, safe: Profile, sandbox: RunningSandbox
) -> None:
    body = {"target": "clean", "duplicate_and_swap": True}
    at = db.now()
    good = {"version": consent.VERSION, "text_hash": consent.text_hashes()["es"], "accepted_by": "Ada"}
    good["accepted_at"] = at.isoformat()
    stale = {**good, "accepted_at": (at - timedelta(hours=25)).isoformat()}
    early = {**good, "accepted_at": (at + timedelta(hours=1)).isoformat()}
    for given in (None, {**good, "version": "1"}, {**good, "text_hash": "0" * 64}, stale, early):
        answer = key.post(PATH, json=body | ({"consent": given} if given else {}))
        assert refusal(answer) == (409, "consent_required", None), given
        assert answer.get_json()["error"]["consent"] == consent.current()
    assert refusal(key.post(PATH, json={**body, "consent": good})) == (501, "not_implemented", None)
    owner = people.user(url)
    people.member(url, owner, safe.workspace_id)
    by_hand = ask("POST", f"{PATH}?profile_id={safe.id}", people.session_of(url, owner), body)
    assert refusal(by_hand) == (501, "not_implemented", None)
    assert sandbox.calls() == 0


def agents_ask(ask: Ask, url: str, profile: Profile, *, may_write: bool) -> Any:
    owner = people.user(url)
    people.member(url, owner, profile.workspace_id)
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).mcp_writeback_enabled = may_write
    token = people.token_of(url, owner, grants=["mcp:write"])
    return ask("POST", f"{PATH}?profile_id={profile.id}", token, {"target": "clean"})


def writebacks(url: str) -> list[tuple[str, str, str | None]]:
    with db.transaction(url) as session:
        found = session.scalars(sa.select(Writeback).order_by(Writeback.id)).all()
        return [(one.operation, one.outcome, one.error_code) for one in found]


def test_an_agent_asks_nothing_of_the_platform_where_agents_may_not_write(
    ask: Ask, url: str, via: Connection, safe: Profile, sandbox: RunningSandbox
) -> None:
    answer = agents_ask(ask, url, safe, may_write=False)
    assert refusal(answer) == (403, "forbidden", "writeback_disabled")
    assert sandbox.calls() == 0
    assert writebacks(url) == [("dataset_target.change", "refused", "forbidden")]


def test_what_an_agent_asks_of_the_platform_is_kept_however_it_ends(
    ask: Ask, url: str, via: Connection, safe: Profile, sandbox: RunningSandbox
) -> None:
    sandbox.plan({"route": "/adspixels$", "method": "POST", "kind": "code", "code": "200"})
    assert agents_ask(ask, url, safe, may_write=True).status_code == 403
    assert writebacks(url) == [("dataset_target.change", "refused", "platform_write_permission_missing")]
    assert data(agents_ask(ask, url, safe, may_write=True))["changed"] is True
    assert writebacks(url)[1] == ("dataset_target.change", "done", None)


def test_no_slot_is_spent_on_a_dataset_that_an_answer_after_it_would_lose(
    key: Caller, via: Connection, sandbox: RunningSandbox
) -> None:
    sandbox.plan({"route": "/adsets$", "kind": "revoked"})
    assert refusal(key.post(PATH, json={"target": "clean"})) == (409, "connection_revoked", None)
    assert datasets_of(via) == [sandbox.pixel_id()]


def test_messaging_datasets_need_an_account_of_their_own(
    key: Caller, url: str, safe: Profile, sandbox: RunningSandbox
) -> None:
    def connect(provider: str, number: int, **more: Any) -> None:
        connected.to_meta(
            url, safe, sandbox.url, provider=provider, kind="messaging", external_account_id=MESSAGING[number], **more
        )

    chat, social = {"target": "clean", "dataset": "chatapp"}, {"target": "clean", "dataset": "social"}
    assert refusal(key.post(PATH, json=chat)) == (409, "chatapp_connection_required", None)
    assert refusal(key.post(PATH, json=social)) == (409, "social_connection_required", None)
    connect("chatapp", 0)
    connect("social", 1, login_kind="direct")
    made = data(key.post(PATH, json=chat))
    assert (made["dataset"], made["live_ad_sets"], made["changed"]) == ("chatapp", None, True)
    assert refusal(key.post(PATH, json=social)) == (409, "social_page_login_required", None)
    with db.transaction(url) as session:
        found = session.scalars(sa.select(Connection).where(Connection.provider == "social")).one()
        found.login_kind = "page_linked"
    assert data(key.post(PATH, json=social))["changed"] is True


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"kind": "revoked"}, (409, "connection_revoked", None)),
        ({"kind": "code", "code": "200"}, (403, "platform_write_permission_missing", None)),
        ({"kind": "status", "status": 503, "times": None}, (502, "provider_error", "unavailable")),
    ],
)
def test_what_the_platform_refuses_changes_nothing(
    key: Caller,
    url: str,
    via: Connection,
    sandbox: RunningSandbox,
    fault: dict[str, Any],
    expected: tuple[int, str, str | None],
) -> None:
    sandbox.plan({"route": "/adspixels$", "method": "POST", **fault})
    assert refusal(key.post(PATH, json={"target": "clean"})) == expected
    sandbox.plan()
    with db.transaction(url) as session:
        assert session.scalars(sa.select(DatasetTarget)).all() == []
