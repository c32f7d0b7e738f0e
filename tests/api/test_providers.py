"""Every provider that can be connected has a way in, and every ad platform can be asked afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import SecretStr

from api.providers import SPOKEN, client
from connectors import apps
from connectors.ad_platform import Access
from connectors.ad_platforms import PLATFORMS, opened
from connectors.authorizing import WAYS, address, code_in
from connectors.errors import Refused
from connectors.transport import Transport
from sandbox.authorizing import PAGES
from sandbox.faces import TOKENS
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


def test_whoever_can_be_connected_has_a_way_in_and_a_page_in_the_sandbox() -> None:
    assert {one.ours for one in SPOKEN.values()} == set(WAYS)
    assert {f"/{one.face}/{one.page}" for one in SPOKEN.values()} == set(PAGES)


def test_the_ad_platforms_that_can_be_connected_are_those_that_can_be_asked(settings: Settings) -> None:
    assert {one.ours for one in SPOKEN.values() if one.kind == "ad_platform"} == set(PLATFORMS)
    with Transport() as transport:
        for name in PLATFORMS:
            access = Access("http://127.0.0.1:9", "token", "1", is_sandbox=True)
            assert opened(settings, name, access, transport).platform == name


def test_an_app_at_meta_that_demands_its_secret_is_answered(settings: Settings, sandbox: RunningSandbox) -> None:
    account = sandbox.world.accounts[0].id
    sandbox.demand_secret()
    access = Access(f"{sandbox.url}/meta", TOKENS["meta"], account, is_sandbox=True)
    another = settings.model_copy(update={"meta_app_id": "1", "meta_app_secret": SecretStr("of another app")})
    with Transport() as transport:
        assert opened(settings, "meta", access, transport).entities()["ad_accounts"]
        real = replace(access, is_sandbox=False)
        for unproven in (settings, another):
            with pytest.raises(Refused, match="appsecret_proof") as caught:
                opened(unproven, "meta", real, transport).entities()
            assert caught.value.reason == "app_refused"


@pytest.mark.parametrize("provider", SPOKEN)
def test_the_page_is_asked_in_its_providers_words(settings: Settings, provider: str) -> None:
    asked, way = client(settings, provider), WAYS[SPOKEN[provider].ours]
    page = address(asked, state="s", back="https://a.example/back")
    assert f"{way.client_field}={apps.OF_SANDBOX.client_id}" in page
    assert code_in(asked.provider, {way.code_field: "given", "other": "x"}) == "given"
    assert code_in(asked.provider, {"error": "access_denied"}) == ""


def test_an_app_of_which_a_part_is_missing_is_none(settings: Settings) -> None:
    half, secret = {"google_client_id": "id"}, {"google_client_secret": SecretStr("s")}
    assert apps.own(settings.model_copy(update=half), "google") is None
    assert apps.own(settings.model_copy(update=secret), "google") is None
    assert apps.at(settings, "google", is_sandbox=False) == apps.App()


def test_a_developer_token_of_googles_is_a_part_only_where_a_deployment_still_has_one(settings: Settings) -> None:
    told = {"google_client_id": "id", "google_client_secret": SecretStr("s")}
    assert apps.own(settings.model_copy(update=told), "google") == apps.App("id", "s")
    before = {**told, "google_developer_token": SecretStr("t")}
    assert apps.own(settings.model_copy(update=before), "google") == apps.App("id", "s", "t")
    assert apps.own(settings.model_copy(update={**before, "meta_app_id": "1"}), "meta") is None
