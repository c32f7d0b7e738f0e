"""The places where an address comes in that we would call, each tried as far as its own check reaches."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from typing import Any

from marshmallow import ValidationError

from api import errors
from api.reports import pdf
from api.v1.chatapp import samples
from api.v1.webhooks.schemas import NewSubscription
from api.webhooks.egress import Egress
from connectors.chatapp import ChatApp, Media
from connectors.errors import ConnectorError
from connectors.transport import Transport
from sandbox.chatapp import PNG
from tests.factories.addresses import sealed

REFUSED, CALLED = "refused", "called"


def _saved(url: str) -> None:
    NewSubscription().load({"url": url, "events": ["report.ready"]})


def _sent(url: str) -> None:
    if Egress().post(url, b"{}", {}).error:
        raise ValueError


def _sample(url: str) -> None:
    with samples.fetched({"type": "image", "url": url}, egress=Egress()):
        pass


def _media(url: str) -> None:
    with Transport() as transport:
        account = ChatApp("https://graph.facebook.com", "token", "1", transport)
        account.download(Media(url, "image/png", 1), io.BytesIO(), most_bytes=10)


def _picture(url: str) -> None:
    # what has no scheme is left out of the document
    if b"/Image" not in pdf.written(f'<img src="{html.escape(url)}">', {"dot": (PNG, "image/png")}):
        raise ValueError


DOORS: dict[str, Callable[[str], None]] = {
    "webhook, saved": _saved,
    "webhook, sent": _sent,
    "sample of a chat template": _sample,
    "chat media, as the platform names them": _media,
    "picture in a PDF": _picture,
}
OPEN = {
    **dict.fromkeys(("webhook, saved", "webhook, sent", "sample of a chat template"), "https://public.example/x"),
    "chat media, as the platform names them": "https://lookaside.fbsbx.com/x",
    "picture in a PDF": "asset:dot",
}
OPEN = {
    **dict.fromkeys(("webhook, saved", "webhook, sent", "sample of a chat template"), "https://public.example/x"),
    "chat media, as the platform names them": "https://lookaside.fbsbx.com/x",
    "picture in a PDF": "asset:dot",
}
_REFUSALS: tuple[Any, ...] = (ValidationError, ValueError, errors.ApiError, ConnectorError)


def tried(door: str, url: str) -> str:
    """`REFUSED` when the door lets nothing through and nobody is dialled."""
    with sealed() as dialled:
        try:
            DOORS[door](url)
        except _REFUSALS:
            return f"{CALLED} {dialled}" if dialled else REFUSED
    return CALLED
