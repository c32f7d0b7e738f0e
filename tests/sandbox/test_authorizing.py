"""The consent pages: what they show, and that only a known app is sent anything."""

from __future__ import annotations

from urllib.parse import urlencode

import httpx
import pytest

from sandbox.authorizing import CLIENT_ID, PAGES
from tests.fixtures.sandbox import RunningSandbox


def page(sandbox: RunningSandbox, path: str, **asked: str) -> str:
    known = {PAGES[path][0]: CLIENT_ID, "redirect_uri": "https://a.example/back", "state": "s", "scope": "<b>read</b>"}
    return f"{sandbox.url}{path}?{urlencode({**known, **asked})}"


@pytest.mark.parametrize("path", PAGES)
def test_a_person_sees_what_is_asked_for_and_may_say_no(sandbox: RunningSandbox, path: str) -> None:
    shown = httpx.get(page(sandbox, path), trust_env=False)
    assert "&lt;b&gt;read&lt;/b&gt;" in shown.text
    # a phone shows a page without it as if through the wrong end of a telescope
    assert '<html lang="en">' in shown.text and 'name="viewport"' in shown.text
    answer = httpx.post(page(sandbox, path), data={"decision": "deny"}, trust_env=False)
    assert answer.headers["Location"].startswith("https://a.example/back?error=access_denied&")
    assert answer.headers["Location"].endswith("&state=s")


@pytest.mark.parametrize("path", PAGES)
def test_an_unknown_app_or_a_strange_address_gets_nothing(sandbox: RunningSandbox, path: str) -> None:
    for wrong in ({PAGES[path][0]: "other"}, {"redirect_uri": "javascript:alert(1)"}):
        answer = httpx.post(page(sandbox, path, **wrong), data={"decision": "allow"}, trust_env=False)
        assert answer.status_code == 400


def test_accounts_are_shown_to_the_token_alone(sandbox: RunningSandbox) -> None:
    for path in ("/meta/v26.0/me/adaccounts", "/shopify/admin/api/2026-10/shop.json", "/stripe/v1/account"):
        assert httpx.get(f"{sandbox.url}{path}", trust_env=False).status_code == 401
