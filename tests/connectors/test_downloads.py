"""Files of a provider: what comes of each answer, and that a file larger than allowed is not read to its end."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from flask import Flask, Response

from connectors.downloads import Limits, fetch
from connectors.errors import ConnectorError, Malformed, Refused, Revoked, TooMuchData, Transient
from tests.fixtures.sandbox import served

LIMITS = Limits(most_bytes=100_000, within=5.0)


@pytest.fixture(scope="module")
def files() -> Iterator[str]:
    app = Flask("files")

    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            yield b"x" * 65_536
        raise AssertionError("nobody reads so far")

    app.add_url_rule("/<int:status>", "status", lambda status: Response(b"x" * 7, status, {"Location": "/200"}))
    app.add_url_rule("/endless", "endless", lambda: Response(endless()))
    app.add_url_rule("/broken", "broken", lambda: Response(b"no gzip", headers={"Content-Encoding": "gzip"}))
    with served(app) as url:
        yield url


@pytest.mark.parametrize(
    ("path", "kind", "reason"),
    [
        ("401", Revoked, "connection_revoked"),
        ("404", Refused, "not_found"),
        ("410", Refused, "not_found"),
        ("403", Refused, "refused"),
        ("302", Refused, "refused"),
        ("429", Transient, "transient"),
        ("503", Transient, "transient"),
        ("endless", TooMuchData, "too_much_data"),
        ("broken", Transient, "connection"),
    ],
)
def test_each_answer_that_is_no_file_has_its_own_end(
    files: str, path: str, kind: type[ConnectorError], reason: str
) -> None:
    into = io.BytesIO()
    with pytest.raises(kind) as ended:
        fetch("chatapp", f"{files}/{path}", "secret", into, LIMITS)
    assert (type(ended.value), ended.value.reason, "secret" in str(ended.value)) == (kind, reason, False)
    assert len(into.getvalue()) <= LIMITS.most_bytes


def test_a_file_is_written_as_it_is(files: str) -> None:
    into = io.BytesIO()
    assert (fetch("chatapp", f"{files}/200", "secret", into, LIMITS), into.getvalue()) == (7, b"x" * 7)


def test_an_address_that_cannot_be_read_is_malformed(files: str) -> None:
    with pytest.raises(Malformed):
        fetch("chatapp", f"{files}/\0", "secret", io.BytesIO(), LIMITS)


def test_whom_the_machine_trusts_is_read_once_and_not_for_each_file(
    files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch("chatapp", f"{files}/200", "secret", io.BytesIO(), LIMITS)
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    assert fetch("chatapp", f"{files}/200", "secret", io.BytesIO(), LIMITS) == 7
