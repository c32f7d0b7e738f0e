"""Receivers of webhooks on loopback, and a name server of one test that gives them public addresses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from flask import Flask, Response, request
from standardwebhooks import Webhook

from api.webhooks.egress import Egress
from tests.fixtures.sandbox import served

PUBLIC = "93.184.216.34"
URL = "https://receiver.example/hook"


@dataclass
class Receiver:
    """What came in, in order; `answers` are the statuses to give, of which the last stays."""

    url: str = ""
    answers: list[int] = field(default_factory=lambda: [200])
    came: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)
    # set unless it is to keep its callers waiting
    answering: threading.Event = field(default_factory=threading.Event)
    is_endless: bool = False

    @property
    def egress(self) -> Egress:
        """A way out on which this receiver stands in for the one that subscriptions name."""
        return Egress({"https://receiver.example": self.url})

    def read(self, number: int, secret: str) -> Any:
        """The event of one delivery, its signature checked as the library of the standard does."""
        body, headers = self.came[number]
        return Webhook(secret).verify(body, headers)

    def ids(self) -> list[str]:
        return [headers["Webhook-Id"] for _, headers in self.came]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free loopback port."""
    app, receiver = Flask("receiver"), Receiver()
    receiver.answering.set()

    @app.post("/hook")
    def hook() -> Response:
        receiver.came.append((request.get_data(), dict(request.headers)))
        receiver.answering.wait(120)
        status = receiver.answers.pop(0) if len(receiver.answers) > 1 else receiver.answers[0]
        headers = {"Location": f"{receiver.url}/hook"} if 300 <= status < 400 else {}
        return Response(repeat(b"x" * 100_000) if receiver.is_endless else b"x" * 100_000, status, headers)

    with served(app) as url:
        receiver.url = url
        yield receiver


def names(addresses: dict[str, list[str]]) -> Callable[..., list[Any]]:
    """A `socket.getaddrinfo` that knows these names, each answer used once but the last, and addresses themselves."""
    real = socket.getaddrinfo

    def resolved(host: str, port: Any, *rest: Any, **more: Any) -> list[Any]:
        if host not in addresses:
            # numbers in whatever spelling are read as the machine reads them; names are asked of nobody
            return real(host, port, *rest, **{**more, "flags": socket.AI_NUMERICHOST})
        found = addresses[host]
        address = found.pop(0) if len(found) > 1 else found[0]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port or 443))]

    return resolved
