"""The chat app's business account at the Graph API: templates that are reviewed, samples, and media people sent."""

from __future__ import annotations

import json
from itertools import count
from threading import Lock
from typing import Any

from flask import Blueprint, Flask, Response, request

from sandbox import refusals
from sandbox.faults import CONTROL

ACCOUNT = "102290129340398"
PICTURE = "1130417280000101"
# what an upload session is signed with
SIGNATURE = "ARZ_sandbox-0"
# the smallest PNG: one white point
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f80f00010101001"
    "bb6ee560000000049454e44ae426082"
)
Row = dict[str, Any]


def _approved(number: int, name: str, category: str, text: str) -> Row:
    return {
        "id": f"59429000000{number:04}", "name": name, "language": "en_US", "category": category,
        "status": "APPROVED", "quality_score": {"score": "GREEN"}, "components": [{"type": "BODY", "text": text}],
    }  # fmt: skip


class Chat:
    """What the business account holds now; `unpaid` is whether nobody pays for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers = count(700001)
        self.forget()

    def forget(self) -> None:
        """Be as at the start."""
        self.unpaid = False
        self.uploads: dict[str, int] = {}
        self.handles: set[str] = set()
        self.media: dict[str, tuple[bytes, str]] = {PICTURE: (PNG, "image/png")}
        self.templates = [
            _approved(1, "order_on_its_way", "UTILITY", "Your order {{1}} is on its way."),
            _approved(2, "fitting_reminder", "UTILITY", "See you at your fitting on {{1}}."),
        ]

    def create(self, form: Row) -> Row | None:
        """The new template, PENDING; None when there is one of this name and language."""
        with self._lock:
            if any((row["name"], row["language"]) == (form["name"], form["language"]) for row in self.templates):
                return None
            made = {**form, "id": f"59429000000{next(self._numbers)}", "status": "PENDING"}
            made["quality_score"] = {"score": "UNKNOWN"}
            self.templates.append(made)
            return made

    def next_number(self) -> str:
        with self._lock:
            return str(next(self._numbers))


def routes(face: Blueprint, version: str, chat: Chat) -> None:
    """The routes of the business account beside the ad accounts' on the same face."""

    @face.get(f"/{version}/{ACCOUNT}/message_templates")
    def templates() -> Response:
        return refusals.answer({"data": chat.templates, "paging": {"cursors": {"before": "MAZDZD", "after": "MjQZD"}}})

    @face.post(f"/{version}/{ACCOUNT}/message_templates")
    def create_template() -> Response:
        if chat.unpaid:
            return refusals.meta_error(131042, "(#131042) Business eligibility payment issue")
        form: Row = {**request.form.to_dict(), "components": json.loads(request.form["components"])}
        if problem := _problem(chat, form):
            return refusals.meta_error(100, f"(#100) Invalid parameter: {problem}", subcode=2388043)
        made = chat.create(form)
        if made is None:
            message = "(#100) Content in This Language Already Exists"
            return refusals.meta_error(100, message, subcode=2388024)
        return refusals.answer({"id": made["id"], "status": "PENDING", "category": made["category"]})

    @face.post(f"/{version}/app/uploads")
    def begin_upload() -> Response:
        number = chat.next_number()
        chat.uploads[f"{number}="] = int(request.form["file_length"])
        session = f"upload:{number}=?sig={SIGNATURE}"
        return refusals.answer({"id": session})

    @face.post(f"/{version}/upload:<number>")
    def receive(number: str) -> Response:
        content = request.get_data()
        if request.args.get("sig") != SIGNATURE or chat.uploads.pop(number, None) != len(content):
            return refusals.meta_error(100, "(#100) The upload is unknown or not of the announced length")
        handle = f"4::{number}"
        chat.handles.add(handle)
        return refusals.answer({"h": handle})

    @face.get("/chat-media/<number>")
    def media_bytes(number: str) -> Response:
        if number not in chat.media:
            return Response(status=404)
        content, mime_type = chat.media[number]
        return Response(content, mimetype=mime_type)


def media(chat: Chat, number: str) -> Response | None:
    """The node of a media id; None for an unknown one."""
    if number not in chat.media:
        return None
    content, mime_type = chat.media[number]
    where = f"{request.host_url}meta/chat-media/{number}"
    node = {"messaging_product": "whatsapp", "url": where, "mime_type": mime_type, "file_size": len(content)}
    return refusals.answer({**node, "id": number})


def control(app: Flask, chat: Chat) -> None:
    """The routes by which a test does what reviewers, payers and people who write do."""

    @app.put(f"{CONTROL}/chatapp")
    def change_chat() -> Row:
        """Set statuses by template name, drop templates, add media of so many bytes, or stop paying."""
        asked = request.get_json()
        chat.unpaid = asked.get("unpaid", chat.unpaid)
        for row in chat.templates:
            row["status"] = asked.get("statuses", {}).get(row["name"], row["status"])
        chat.templates = [row for row in chat.templates if row["name"] not in asked.get("drop", [])]
        for number, size in asked.get("media", {}).items():
            chat.media[number] = (b"\x00" * size, asked.get("mime_type", "video/mp4"))
        return {"templates": chat.templates}

    @app.delete(f"{CONTROL}/chatapp")
    def forget_chat() -> Row:
        chat.forget()
        return {"status": "ok"}


def _problem(chat: Chat, form: Row) -> str:
    for part in form["components"]:
        handles = part.get("example", {}).get("header_handle", [])
        if part["type"] == "HEADER" and part["format"] != "TEXT" and not set(handles) & chat.handles:
            return "the sample of the header is unknown"
        if part["type"] == "BODY" and part["text"].strip().startswith("{{"):
            return "Message template body can't start with a variable"
    return ""
