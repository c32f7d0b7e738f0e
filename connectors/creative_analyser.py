"""A service of the deployment's own that reads creatives: one JSON document there, one back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from connectors.errors import Malformed, Refused
from connectors.transport import Answer, Request, Transport

PROVIDER = "creative_analyser"
NOT_LET_IN = "analyser_token_refused"


class _Plain:
    """Statuses say nearly all; nothing is promised about budgets."""

    provider = PROVIDER

    def judge(self, answer: Answer) -> None:
        if answer.status == 401:
            # the token is the deployment's own: nobody's connection is lost
            raise Refused(PROVIDER, "the token was not accepted", reason=NOT_LET_IN, status=answer.status)

    def pause_after(self, answer: Answer) -> float:
        return 0.0


class HttpAnalyser:
    """Posts a creative and the words it may be described with. Raises only `connectors.errors`."""

    def __init__(self, url: str, token: str | None, transport: Transport) -> None:
        self._url, self._token, self._transport = url, token, transport

    def __repr__(self) -> str:
        return "<HttpAnalyser>"

    def ask(self, creative: Mapping[str, Any], words: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
        """The answer, an object; what stands in it is for the caller to judge."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        document = {"creative": dict(creative), "words": {name: list(known) for name, known in words.items()}}
        request = Request("POST", self._url, document=document, headers=headers)
        body = self._transport.send(request, _Plain(), secrets=(self._token,) if self._token else ()).body
        if not isinstance(body, dict):
            raise Malformed(PROVIDER, "an answer that is no object")
        return body
