"""A body that hides its length, ends early or is framed wrongly, as gunicorn hands it to the application."""

from __future__ import annotations

from typing import Any

import pytest
from gunicorn.http.body import Body, ChunkedReader, LengthReader  # type: ignore[import-untyped]
from gunicorn.http.unreader import IterUnreader  # type: ignore[import-untyped]

from tests.api.conftest import Caller

MOST = 1024 * 1024
NOTE = b'{"title": "a"}'


def sent(caller: Caller, reader: Any, **environ: str) -> tuple[int, Any]:
    """The status and the error or data of a POST whose body gunicorn reads from a connection."""
    given = {"wsgi.input": Body(reader), "wsgi.input_terminated": True, "CONTENT_LENGTH": "", **environ}
    response = caller.post("/notes", content_type="application/json", environ_overrides=given)
    answer = response.get_json()
    return response.status_code, answer.get("error", answer.get("data"))


def chunked(*pieces: bytes) -> ChunkedReader:
    return ChunkedReader(None, IterUnreader(iter(pieces)))


def chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def test_a_body_in_chunks_is_read_to_its_end(caller: Caller) -> None:
    status, told = sent(caller, chunked(chunk(NOTE[:5]) + chunk(NOTE[5:]), b"0\r\n\r\n"))
    assert (status, told["title"]) == (201, "a")


def test_a_body_in_chunks_that_fills_the_limit_is_not_too_large(caller: Caller) -> None:
    body = NOTE + b" " * (MOST - len(NOTE))
    assert sent(caller, chunked(chunk(body), b"0\r\n\r\n"))[0] == 201


@pytest.mark.parametrize("more", [1, MOST])
def test_a_body_in_chunks_over_the_limit_is_too_large_and_not_read_as_far_as_it_fits(caller: Caller, more: int) -> None:
    # what fits is a whole note
    body = NOTE + b" " * (MOST - len(NOTE) + more)
    status, told = sent(caller, chunked(chunk(body), b"0\r\n\r\n"))
    assert (status, told["code"]) == (413, "payload_too_large")
    assert told["message"] == f"The body may hold at most {MOST} bytes."


@pytest.mark.parametrize(
    "pieces",
    [
        [b"zz\r\n", NOTE, b"\r\n0\r\n\r\n"],
        [chunk(NOTE)[:-2] + b"XX0\r\n\r\n"],
        [b"50\r\n", NOTE],
        [chunk(NOTE)],
        [chunk(NOTE), b"0\r\n"],
    ],
    ids=["no size", "no end of a chunk", "cut within a chunk", "cut between chunks", "cut before the end"],
)
def test_a_body_in_broken_chunks_is_refused(caller: Caller, pieces: list[bytes]) -> None:
    status, told = sent(caller, chunked(*pieces))
    assert (status, told["code"]) == (400, "invalid_request")


def test_a_body_that_is_shorter_than_told_is_refused(caller: Caller) -> None:
    # a note, whose end was lost
    reader = LengthReader(IterUnreader(iter([NOTE])), len(NOTE) + 20)
    status, told = sent(caller, reader, CONTENT_LENGTH=str(len(NOTE) + 20))
    assert (status, told["code"]) == (400, "invalid_request")


def test_a_body_as_long_as_told_is_read(caller: Caller) -> None:
    reader = LengthReader(IterUnreader(iter([NOTE])), len(NOTE))
    assert sent(caller, reader, CONTENT_LENGTH=str(len(NOTE)))[0] == 201
