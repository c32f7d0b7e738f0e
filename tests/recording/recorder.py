"""Asks a deployment one operation after the other, and keeps what it was asked and answered."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse

from tests.recording.canonical import Canonical
from touchledger.demo import DEMO_PROFILE_ID, DEMO_WORKSPACE_ID
from touchledger.settings import Settings

AGENT = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
JSON, FORM = "application/json", "multipart/form-data"
PLACES = {"workspace_id": DEMO_WORKSPACE_ID, "workspace": DEMO_WORKSPACE_ID, "profile_id": DEMO_PROFILE_ID}
# what the envelope says of the one request, and of where this deployment is
OF_ONE_REQUEST = {"status", "request_id", "docs_url"}


@dataclass(frozen=True)
class Asked:
    """One request: who asked, with which parts of the path, parameters and body."""

    by: str | None = None
    at: dict[str, str] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    # a form with files, or bytes, in place of a JSON body
    sent: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class UnexpectedAnswerError(AssertionError):
    """An operation answered otherwise than the walk expects."""


class Recorder:
    """`kept` is by operation: `request` by media type, `answers` by status and media type, and `refusals`."""

    def __init__(self, client: FlaskClient, settings: Settings, canonical: Canonical) -> None:
        self.client, self.settings, self.canonical = client, settings, canonical
        self.document: dict[str, Any] = client.get("/openapi.json").get_json()
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, operations in self.document["paths"].items()
            for method, operation in operations.items()
        }
        self.kept: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, Asked] = {}

    def ask(
        self,
        name: str,
        by: str | None = None,
        *,
        shown: Any = None,
        form: Any = None,
        answered: Any = None,
        **asked: Any,
    ) -> Any:
        """What the operation answers, kept unless one with the same status was; a list or object without its envelope.

        `shown` is kept as the request in place of bytes or a secret, `form` as that with a file, and `answered` in
        place of an answer that is too large. Raises UnexpectedAnswerError unless it succeeds.
        """
        one = Asked(by, **asked)
        response = self.send(name, one)
        if response.status_code >= 300:
            raise UnexpectedAnswerError(f"{name}: {response.status_code} {response.text}")
        told = self.kept.setdefault(name, {})
        for media, request in self._requests(name, one.body if shown is None else shown, form):
            told.setdefault("request", {}).setdefault(media, self.canonical.of(request))
        self.asked.setdefault(name, one)
        body = response.get_json() if response.mimetype == JSON else _head(response.text)
        answers = told.setdefault("answers", {}).setdefault(str(response.status_code), {})
        answers.setdefault(response.mimetype, self.canonical.of(body if answered is None else answered))
        return body["data"] if isinstance(body, dict) and "data" in body else body

    def _requests(self, name: str, body: Any, form: Any) -> Iterator[tuple[str, Any]]:
        for media in self.operations[name][2].get("requestBody", {}).get("content", {}):
            request = form if media == FORM else body
            if request is not None:
                yield media, request

    def unkept(self, name: str, by: str | None = None, **asked: Any) -> Any:
        """What the operation answers, without keeping it. Raises UnexpectedAnswerError unless it succeeds."""
        response = self.send(name, Asked(by, **asked))
        if response.status_code >= 300:
            raise UnexpectedAnswerError(f"{name}: {response.status_code} {response.text}")
        return response.get_json()["data"]

    def refused(self, name: str, code: str, by: str | None = None, **asked: Any) -> None:
        """Keep a refusal, which must have that code."""
        response = self.send(name, Asked(by, **asked))
        error = response.get_json()["error"] if response.status_code >= 400 else {"code": response.text}
        if error["code"] != code:
            raise UnexpectedAnswerError(f"{name}: {response.status_code} {error}, not {code}")
        self.keep_refusal(name, response)

    def keep_refusal(self, name: str, response: TestResponse) -> None:
        """Keep the refusal, without what is of the one request."""
        error = {key: value for key, value in response.get_json()["error"].items() if key not in OF_ONE_REQUEST}
        known = self.kept.setdefault(name, {}).setdefault("refusals", [])
        if error["code"] not in {one["code"] for one in known}:
            known.append(self.canonical.of(error))

    def send(self, name: str, one: Asked) -> TestResponse:
        """Ask, with the whole allowance."""
        self._forget_rates()
        method, path, _ = self.operations[name]
        for part, value in {**PLACES, **one.at}.items():
            path = path.replace(f"{{{part}}}", value)
        headers = Headers({**AGENT, **({"Authorization": one.by} if one.by else {}), **one.headers})
        more: dict[str, Any] = {"json": one.body} if one.body is not None else {}
        if one.sent is not None:
            more = {"data": _form(one.sent) if isinstance(one.sent, dict) else one.sent}
        return self.client.open(path, method=method, query_string=one.query, headers=headers, **more)

    def _forget_rates(self) -> None:
        path = Path(self.settings.operational_url.removeprefix("sqlite:///"))
        with sqlite3.connect(path, timeout=10) as beside:
            beside.execute("pragma synchronous = off")
            beside.execute("delete from rate_uses")
        beside.close()

    def schema(self, told: dict[str, Any]) -> dict[str, Any]:
        """The schema itself, where it is told by its name."""
        while "$ref" in told:
            told = self.document["components"]["schemas"][told["$ref"].rpartition("/")[2]]
        return told


def _form(members: dict[str, Any]) -> dict[str, Any]:
    """The same with its files opened: each is its bytes and its name."""
    return {name: (io.BytesIO(one[0]), one[1]) if isinstance(one, tuple) else one for name, one in members.items()}


def _head(text: str) -> str:
    return "\n".join(text.splitlines()[:3])
