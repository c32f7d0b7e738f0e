"""What is issued while its consent or its app ends: it is ended too or refused, on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from api.models import ApiKey, Delegation, Membership, OAuthAuthorization, UserToken, WebhookSubscription
from tests.api.oauth import let_in
from tests.api.oauth.let_in import World
from tests.factories import people
from tests.factories.receivers import PUBLIC
from tests.fixtures.at_once import meanwhile

# what a request has read when somebody else comes
OF_CONSENT, OF_KEY, OF_APP = "FROM oauth_authorizations", "FROM api_keys", "FROM app_secrets"


@pytest.fixture
def world(home: Path, database_url: str) -> World:
    return let_in.made(home, database_url)


def fine(*answers: TestResponse) -> None:
    assert [one.status_code for one in answers if one.status_code >= 500] == []


Act = Callable[[World], Callable[[], TestResponse]]


def minting(world: World) -> Callable[[], TestResponse]:
    return lambda: world.ask("POST", "/me/mcp-tokens", {})


def refreshing(world: World) -> Callable[[], TestResponse]:
    token = world.agent.exchange(world.agent.code()).get_json()["refresh_token"]
    return lambda: world.agent.refresh(token)


def exchanging(world: World) -> Callable[[], TestResponse]:
    code = world.agent.code()
    return lambda: world.agent.exchange(code)


def connecting(world: World) -> Callable[[], TestResponse]:
    code = world.app_code()
    return lambda: world.app_exchange(code)


def rotating(world: World) -> Callable[[], TestResponse]:
    world.app_exchange(world.app_code())
    key = world.one(ApiKey.id)
    return lambda: world.ask("POST", f"{world.place}/api-keys/{key}/rotate")


@pytest.mark.parametrize(
    ("end", "issue", "after"),
    [
        *((World.disconnect, issue, OF_CONSENT) for issue in (refreshing, exchanging, connecting)),
        *((end, connecting, OF_CONSENT) for end in (World.suspend, World.archive)),
        *((end, rotating, OF_KEY) for end in (World.disconnect, World.suspend, World.archive)),
    ],
)
def test_nothing_lives_on_that_is_issued_while_what_it_hangs_on_ends(
    world: World, end: Callable[[World], TestResponse], issue: Act, after: str
) -> None:
    doing = issue(world)
    with meanwhile(world.url, after, lambda: end(world)) as ended:
        issued = doing()
    fine(issued, *ended)
    assert ended[0].status_code == 200
    assert world.living() == []


def test_a_suspended_app_provisions_nothing_more(world: World) -> None:
    body = {"external_ref": "one", "name": "Dealer", "user": {"email": "dealer@example.com"}}
    with meanwhile(world.url, OF_APP, world.suspend) as ended:
        made = world.ask("POST", "/profiles", body, world.app.auth["Authorization"])
    fine(made, *ended)
    assert world.living() == []


def test_a_key_is_not_minted_in_a_workspace_that_is_archived_meanwhile(world: World) -> None:
    body = {"profile_id": world.profile.id, "name": "Server"}
    # the first time when it is let in, the second in its own unit of work
    with meanwhile(world.url, "FROM memberships", world.archive, times=2) as ended:
        minted = world.ask("POST", f"{world.place}/api-keys", body)
    fine(minted, *ended)
    assert world.living() == []


def test_a_consent_given_while_its_workspace_is_archived_ends_with_it(world: World) -> None:
    with meanwhile(world.url, "UPDATE oauth_authorizations", world.archive) as ended:
        world.app_code()
    fine(*ended)
    assert ended[0].status_code == 200
    assert world.one(OAuthAuthorization.id, OAuthAuthorization.status == "granted") is None


def test_an_adoption_beside_a_disconnect_ends_with_it(world: World) -> None:
    world.app_exchange(world.app_code())
    path, header = f"/profiles/{world.profile.id}/adopt", world.app.auth["Authorization"]
    with meanwhile(world.url, OF_CONSENT, world.disconnect) as ended:
        adopted = world.ask("POST", path, {"external_ref": "mine"}, header)
    fine(adopted, *ended)
    assert ended[0].status_code == 200
    assert world.one(Delegation.id) is None


@pytest.mark.parametrize("end", ["disconnect", "suspend"])
@pytest.mark.parametrize("change", ["subscribe", "go on"])
def test_an_app_is_told_nothing_more_that_it_subscribes_to_meanwhile(world: World, change: str, end: str) -> None:
    key = world.app_exchange(world.app_code()).get_json()["access_token"]
    path, body = "/webhooks/subscriptions", {"url": f"https://{PUBLIC}/app", "events": ["*"]}
    if change == "go on":
        made = world.ask("POST", path, body, key).get_json()["data"]["id"]
        path, body = f"{path}/{made}", {"status": "active"}
        world.ask("PATCH", path, {"status": "paused"}, key)
    ending = {"disconnect": world.disconnect, "suspend": world.suspend}[end]
    with meanwhile(world.url, OF_KEY, ending) as ended:
        told = world.ask("POST" if change == "subscribe" else "PATCH", path, body, key)
    fine(told, *ended)
    assert ended[0].status_code == 200
    assert world.one(WebhookSubscription.id, WebhookSubscription.status == "active") is None


def removed(world: World) -> TestResponse:
    member = world.one(Membership.id, Membership.user_id == world.owner.id)
    second = people.user(world.url)
    people.member(world.url, second, world.profile.workspace_id)
    return world.ask("DELETE", f"{world.place}/memberships/{member}", token=people.session_of(world.url, second))


def test_a_token_refreshed_while_its_person_is_removed_ends(world: World) -> None:
    doing = refreshing(world)
    with meanwhile(world.url, OF_CONSENT, lambda: removed(world)) as ended:
        issued = doing()
    fine(issued, *ended)
    assert ended[0].status_code == 200
    assert world.living() == []


def given_up(world: World) -> TestResponse:
    token = world.one(UserToken.id, UserToken.revoked_at.is_(None))
    return world.ask("DELETE", f"/me/mcp-tokens/{token}")


def test_a_token_deleted_while_it_is_refreshed_takes_the_next_one_along(world: World) -> None:
    doing = refreshing(world)
    with meanwhile(world.url, OF_CONSENT, lambda: given_up(world)) as ended:
        issued = doing()
    fine(issued, *ended)
    assert ended[0].status_code == 200
    assert world.living() == []


@pytest.mark.parametrize("other", ["refresh", "disconnect", "revoke"])
def test_a_deleted_token_and_what_else_ends_it_wait_for_each_other(world: World, other: str) -> None:
    given = world.agent.exchange(world.agent.code()).get_json()
    does: dict[str, Callable[[], TestResponse]] = {
        "refresh": lambda: world.agent.refresh(given["refresh_token"]),
        "disconnect": world.disconnect,
        "revoke": lambda: world.agent.revoke(given["access_token"]),
    }
    token = world.one(UserToken.id)
    with meanwhile(world.url, "FROM user_tokens", does[other]) as ended:
        deleted = world.ask("DELETE", f"/me/mcp-tokens/{token}")
    fine(deleted, *ended)
    assert deleted.status_code == 200
    assert world.living() == []


@pytest.mark.parametrize(("issue", "after"), [(refreshing, OF_CONSENT), (minting, "FROM user_sessions")])
def test_a_token_issued_while_its_person_proves_the_address_ends_or_is_refused(
    world: World, issue: Act, after: str
) -> None:
    doing = issue(world)
    with meanwhile(world.url, after, world.reset):
        issued = doing()
    fine(issued)
    assert world.living() == []
