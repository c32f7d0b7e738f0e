"""A business account of the chat app: its message templates and the media people sent, over the Graph API."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import urlsplit

from connectors import downloads
from connectors.ad_platform import Row
from connectors.downloads import Limits
from connectors.errors import Malformed, Refused
from connectors.meta_graph import MetaGraph
from connectors.transport import Transport

PROVIDER = "chatapp"
QUALITIES = ("GREEN", "YELLOW", "RED", "UNKNOWN")
_MEDIA_HOST = re.compile(r"([a-z0-9-]+\.)*(fbsbx\.com|fbcdn\.net|facebook\.com|whatsapp\.net)")
_FIELDS = "id,name,language,category,status,quality_score,components"


@dataclass(frozen=True)
class Media:
    """Where the bytes of a media id lie for some minutes, what they are, and how many."""

    url: str
    mime_type: str
    size: int


class ChatApp:
    """One business account; `base_url` without the version. Raises ConnectorErrors only."""

    def __init__(
        self, base_url: str, token: str, account_id: str, transport: Transport, *, app_secret: str | None = None
    ) -> None:
        self.account_id = account_id
        self._token = token
        self._graph = MetaGraph(base_url.rstrip("/"), token, transport, app_secret)

    def __repr__(self) -> str:
        return f"<ChatApp {self.account_id}>"

    def templates(self) -> list[Row]:
        """Every template as it is now: id, name, language, category, status, quality_score and components."""
        nodes = self._graph.walk(f"{self.account_id}/message_templates", {"fields": _FIELDS})
        return list({(row["name"], row["language"]): row for row in map(_template, nodes)}.values())

    def create_template(self, template: Mapping[str, Any]) -> Row:
        """Hand a template in for review; its id and status.

        Raises Refused with the reasons template_exists, payment_required and bad_parameter among others.
        """
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in template.items()}
        made = self._graph.make(f"{self.account_id}/message_templates", form)
        if not str(made.get("id") or "").isdigit():
            raise Malformed(PROVIDER, "a template was made without an id")
        return {"id": str(made["id"]), "status": str(made.get("status") or "PENDING")}

    def upload_sample(self, content: bytes, mime_type: str) -> str:
        """The handle of a header's sample, which a template names it by."""
        opened = self._graph.post("app/uploads", {"file_length": str(len(content)), "file_type": mime_type})
        handle = self._graph.send_bytes(str(opened.get("id")), content).get("h")
        if not isinstance(handle, str) or not handle:
            raise Malformed(PROVIDER, "an upload ended without a handle")
        return handle

    def media(self, media_id: str) -> Media | None:
        """Where a media id's bytes are; None for one that is unknown or no longer kept."""
        try:
            node = self._graph.node(media_id, "url,mime_type,file_size")
        except Refused as refused:
            if refused.reason in ("not_found", "another_kind", "bad_parameter"):
                return None
            raise
        try:
            return Media(str(node["url"]), str(node["mime_type"]).partition(";")[0], int(node["file_size"]))
        except (KeyError, TypeError, ValueError):
            raise Malformed(PROVIDER, "media without an address, a type or a size") from None

    def download(self, media: Media, into: IO[bytes], *, most_bytes: int) -> int:
        """Write the bytes into a file; their number. Raises TooMuchData above `most_bytes`.

        Malformed for media that are said to lie anywhere else than with the platform: the token goes there too.
        """
        if not is_kept_by_platform(media.url, self._graph.base_url):
            raise Malformed(PROVIDER, "media at an address that is not the platform's")
        return downloads.fetch(PROVIDER, media.url, self._token, into, Limits(most_bytes))


def is_kept_by_platform(url: str, base_url: str) -> bool:
    """Whether an address is on the platform's hosts for media, or where the API itself is."""
    try:
        parts, own = urlsplit(url), urlsplit(base_url)
        host, is_usual = parts.hostname or "", parts.scheme == "https" and parts.port in (None, 443)
    except ValueError:
        return False
    if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
        return True
    return is_usual and "@" not in parts.netloc and bool(_MEDIA_HOST.fullmatch(host))


def _template(node: Row) -> Row:
    try:
        quality = node.get("quality_score")
        score = str(quality.get("score")) if isinstance(quality, dict) else "UNKNOWN"
        return {
            "id": str(node["id"]),
            "name": str(node["name"]),
            "language": str(node["language"]),
            "category": node.get("category"),
            "status": str(node["status"]),
            "quality_score": score if score in QUALITIES else "UNKNOWN",
            "components": node["components"] if isinstance(node.get("components"), list) else None,
        }
    except KeyError as absent:
        raise Malformed(PROVIDER, f"a template without {absent.args[0]}") from None
