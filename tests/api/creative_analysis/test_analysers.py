"""An analyser behind an address: what it is told, and that it is held to the catalogue."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from api.creative_analysis import analysers
from api.creative_analysis.analysers import PATIENCE, Remote, analyser
from api.creative_analysis.catalogue import HOOK_TYPES
from api.creative_analysis.findings import Creative
from api.creative_analysis.rules import Rules
from connectors.errors import Malformed, TooMuchData, Transient
from touchledger.settings import Settings

CREATIVE = Creative("image", "Why?", None, "SHOP_NOW")
GOOD: dict[str, Any] = {
    "hook_type": "question",
    "creative_format": "static",
    "cta_type": None,
    "primary_angle": "price",
    "offers": ["bundle", "percent_off"],
    "language": "en",
    "confidence": 0.75,
    "analyzer": "vision/3",
}


class Elsewhere:
    """A service on loopback that answers what the test says, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: tuple[int, bytes] = (200, json.dumps(GOOD).encode())
        self.asked: list[tuple[str | None, Any]] = []
        # set unless it is still thinking
        self.answering = threading.Event()
        self.answering.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append((self.headers["Authorization"], json.loads(body)))
                outer.answering.wait(120)
                status, sent = outer.answer
                # whoever gave it up is gone
                with suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(sent)))
                    self.end_headers()
                    self.wfile.write(sent)

            def log_message(self, format: str, *args: object) -> None:
                return None

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/read"


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    made = Elsewhere()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_it_is_told_the_creative_and_the_words_and_its_answer_is_taken(elsewhere: Elsewhere) -> None:
    found = Remote(elsewhere.url, "a-token").analyse(CREATIVE)
    assert found.told() == {**GOOD, "offers": ["percent_off", "bundle"]}
    ((bearer, asked),) = elsewhere.asked
    assert bearer == "Bearer a-token"
    assert asked["creative"] == {
        "format": "image", "title": "Why?", "body": None, "call_to_action": "SHOP_NOW",
        "video_id": None, "thumbnail_url": None,
    }  # fmt: skip
    assert asked["words"]["hook_type"] == sorted(HOOK_TYPES)


@pytest.mark.parametrize(
    "change",
    [
        {"hook_type": "shouting"},
        {"hook_type": ["question"]},
        {"offers": ["house"]},
        {"offers": "bundle"},
        {"offers": [{}]},
        {"confidence": 1.01},
        {"confidence": True},
        {"confidence": None},
        {"language": "de"},
        {"analyzer": "x" * 65},
        {"analyzer": "a\nb"},
        {"analyzer": ""},
    ],
)
def test_an_answer_in_other_words_is_no_answer(elsewhere: Elsewhere, change: dict[str, Any]) -> None:
    elsewhere.answer = (200, json.dumps({**GOOD, **change}).encode())
    with pytest.raises(Malformed):
        Remote(elsewhere.url, None).analyse(CREATIVE)


@pytest.mark.parametrize("body", [b"[]", b"null", b"<html>", b"{}", b'{"hook_type": ' + b"9" * 60000 + b"}"])
def test_an_answer_that_is_no_document_is_no_answer(elsewhere: Elsewhere, body: bytes) -> None:
    elsewhere.answer = (200, body)
    with pytest.raises(Malformed):
        Remote(elsewhere.url, None).analyse(CREATIVE)


def test_an_answer_that_is_too_large_is_no_answer(elsewhere: Elsewhere) -> None:
    elsewhere.answer = (200, json.dumps({**GOOD, "more": "9" * 70000}).encode())
    with pytest.raises(TooMuchData):
        Remote(elsewhere.url, None).analyse(CREATIVE)


def test_a_service_that_is_down_may_be_asked_again(elsewhere: Elsewhere) -> None:
    elsewhere.answer = (500, b"{}")
    with pytest.raises(Transient):
        Remote(elsewhere.url, None).analyse(CREATIVE)
    assert len(elsewhere.asked) == 1


def test_a_service_may_think_for_all_of_its_two_minutes(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (PATIENCE.read_timeout, PATIENCE.whole_timeout) == (120, 120)
    elsewhere.answering.clear()
    for name in ("read_timeout", "whole_timeout"):
        monkeypatch.setattr(analysers, "PATIENCE", replace(PATIENCE, **{name: 0.1}))
        with pytest.raises(Transient):
            Remote(elsewhere.url, None).analyse(CREATIVE)
    elsewhere.answering.set()


def test_settings_choose_the_analyser(settings: Settings) -> None:
    def chosen(**members: Any) -> object:
        return analyser(settings.model_copy(update=members))

    assert isinstance(chosen(), Rules)
    assert isinstance(chosen(creative_analyser="http", creative_analyser_url="http://a.example"), Remote)
    assert chosen(creative_analyser="http") is None
    assert chosen(creative_analyser="off", creative_analyser_url="http://a.example") is None
