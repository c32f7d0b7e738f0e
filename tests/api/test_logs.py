"""Nothing that the process writes holds a secret, an e-mail address or a phone number."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from structlog.stdlib import ProcessorFormatter

from api import credentials, logs
from connectors.redaction import HIDDEN
from tests.api.conftest import Caller


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    level, raises = root.level, logging.raiseExceptions
    stream = io.StringIO()
    logs.configure("INFO", stream)
    yield stream
    root.handlers[:] = [one for one in root.handlers if not isinstance(one.formatter, ProcessorFormatter)]
    root.setLevel(level)
    logging.raiseExceptions = raises
    structlog.reset_defaults()


def lines(written: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_each_request_leaves_one_line(caller: Caller, written: io.StringIO) -> None:
    response = caller.get("/notes?limit=2")
    (line,) = [line for line in lines(written) if line["event"] == "request"]
    assert line["request_id"] == response.headers["X-Request-Id"]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/notes", 200)
    assert line["query"] == {"limit": ["2"]}
    assert line["key_id"]
    told = (Path(__file__).resolve().parents[2] / "docs" / "runbook.md").read_text()
    assert [name for name in line if f"`{name}`" not in told.partition("## Watching it")[2]] == ["logger", "timestamp"]


def test_the_line_is_what_the_processors_would_write(caller: Caller, written: io.StringIO) -> None:
    caller.get("/notes?limit=2&limit=3&email=jane%40example.com&api_token=x&q=%C3%BC%00%22%F0%9F%98%80&s=last_touch")
    (line,) = [line for line in lines(written) if line["event"] == "request"]
    told = {name: value for name, value in line.items() if name not in {"event", "level", "logger", "timestamp"}}
    structlog.get_logger("api.access").info("request", **told)
    own, theirs = (
        re.sub(r'("timestamp": "2\d{3}-\d\d-\d\dT)[\d:.]+Z"', "", one) for one in written.getvalue().split("\n")[:2]
    )
    assert own == theirs
    assert "timestamp" not in own


def test_a_level_above_leaves_the_line_out(caller: Caller, written: io.StringIO) -> None:
    logging.getLogger().setLevel("WARNING")
    caller.get("/notes")
    assert written.getvalue() == ""


def test_the_token_of_an_address_that_opens_something_stays_out(caller: Caller, written: io.StringIO) -> None:
    caller.client.get("/media/aGVsbG8.signature")
    (line,) = [line for line in lines(written) if line["event"] == "request"]
    assert line["path"] == "/media/<token>"


@pytest.mark.parametrize("name", ["code", "auth_code", "state"])
def test_what_a_provider_sends_somebody_back_with_stays_out(caller: Caller, written: io.StringIO, name: str) -> None:
    caller.client.get(f"/connect/meta/callback?{name}=AQD-one-use")
    (line,) = [line for line in lines(written) if line["event"] == "request"]
    assert line["query"] == {name: HIDDEN}
    assert "AQD-one-use" not in written.getvalue()


def test_no_canary_is_ever_written(caller: Caller, written: io.StringIO) -> None:
    assert caller.secret is not None
    paths = [
        f"/notes?unknown={caller.secret}",
        f"/{caller.secret}",
        "/notes?email=jane%40example.com&phone=%2B4915112345678&search=jane&customer_key=cus_jane",
        "/notes/broken",
        f"/notes?access_token={caller.secret}",
    ]
    for path in paths:
        caller.get(path)
    caller.post("/notes", json={"title": "a", "customers": [{"email": caller.secret}]})
    logging.getLogger("somebody.else").warning("Bearer %s of jane@example.com", caller.secret)
    text = written.getvalue()
    assert text.count("\n") >= len(paths) + 2
    body = caller.secret.removeprefix("tl_live_")
    for canary in (body, body[:12], "jane", "example.com", "4915112345678", "A" * 38):
        assert canary not in text, canary
    assert "RuntimeError" in text


def test_sensitive_names_are_blanked_whatever_they_hold() -> None:
    event = {"Authorization": "x", "user_password": "y", "n": [{"api_token": "z"}], "event": "kept"}
    assert logs.take_out_secrets(None, "", event) == {
        "Authorization": "[redacted]",
        "user_password": "[redacted]",
        "n": [{"api_token": "[redacted]"}],
        "event": "kept",
    }


def test_a_secret_keeps_its_kind_only() -> None:
    assert logs.clean(f"key {credentials.mint('trk_live')}.") == "key trk_live_[redacted]."


@pytest.mark.parametrize(
    "text",
    [
        "sk_live12345",
        "sk_abcdefgh",
        "rk_abcdefgh",
        "shpat_abcdefgh",
        f"tl_live_{'a' * 38}",
        "whsec_abcdefgh",
        "1//0gabcdefghijklmnopqr",
        "ya29.abcdefghij",
        "EAAABBBBCCCCDDDDEEEE",
        "jane@example.com",
        "+4915112345678",
        "/x/bearer abc",
        "a=b&api_key=c",
    ],
)
def test_what_looks_harmless_is_not_let_through_with_a_secret_in_it(text: str) -> None:
    assert logs.clean(text) != text


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["A." * 100_000, "a@" + "-" * 200_000, "+12345678@" * 20_000, "a_%40" * 40_000])
def test_a_long_text_is_looked_through_once(text: str) -> None:
    # each letter was tried as the first of an address: a path of 8,000 held a process for half a second
    assert logs.clean(text)


@pytest.mark.parametrize("text", ["a@b@c.de", "a@b.cc+d@e.ff", "x%40y.zz", "to:a.b+c@d-e.fg.", "@a@b.c"])
def test_every_address_of_a_text_is_taken_out(text: str) -> None:
    cleaned = logs.clean(text)
    assert HIDDEN in cleaned
    assert not re.search(r"\w(@|%40)\w+\.\w", cleaned)
