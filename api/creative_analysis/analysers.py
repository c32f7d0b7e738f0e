"""Which analyser this deployment reads creatives with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.creative_analysis.catalogue import ATTRIBUTES, LANGUAGES, OFFERS
from api.creative_analysis.findings import Analyser, Creative, Findings
from api.creative_analysis.rules import Rules
from connectors.creative_analyser import HttpAnalyser
from connectors.errors import Malformed
from connectors.transport import Policy, Transport
from touchledger.settings import Settings

# the job itself is tried again later, so one try is one request; well under the ten minutes a job may take
PATIENCE = Policy(attempts=1, connect_timeout=5, read_timeout=120, whole_timeout=120, largest_body=2**16)
LONGEST_NAME = 64


class Remote:
    """An analyser behind an address, held to the catalogue: an answer in other words is no answer."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url, self._token = url, token

    def analyse(self, creative: Creative) -> Findings:
        """What the service says. Raises ConnectorError, Malformed where it does not keep to the catalogue."""
        with Transport(PATIENCE) as transport:
            words = {name: sorted(known) for name, known in {**ATTRIBUTES, "offers": OFFERS}.items()}
            answer = HttpAnalyser(self._url, self._token, transport).ask(creative.told(), words)
        try:
            return checked(answer)
        except (KeyError, TypeError, ValueError):
            raise Malformed("creative_analyser", "the answer does not keep to the catalogue") from None


def analyser(settings: Settings) -> Analyser | None:
    """The configured analyser; None where creatives are not analysed."""
    if not settings.analyses_creatives:
        return None
    if settings.creative_analyser_url is None or settings.creative_analyser == "rules":
        return Rules()
    token = settings.creative_analyser_token
    return Remote(settings.creative_analyser_url, token.get_secret_value() if token else None)


def checked(answer: Mapping[str, Any]) -> Findings:
    """An answer as findings. Raises KeyError, TypeError or ValueError for anything that is not as promised."""
    chosen = {name: _one_of(answer[name], known) for name, known in ATTRIBUTES.items()}
    offers = answer["offers"]
    if not isinstance(offers, list) or any(not isinstance(one, str) or one not in OFFERS for one in offers):
        raise ValueError("offers")
    name, sure = answer["analyzer"], answer["confidence"]
    if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME:
        raise ValueError("analyzer")
    if isinstance(sure, bool) or not 0 <= sure <= 1:
        raise ValueError("confidence")
    return Findings(
        hook_type=chosen["hook_type"],
        creative_format=chosen["creative_format"],
        cta_type=chosen["cta_type"],
        primary_angle=chosen["primary_angle"],
        offers=tuple(one for one in OFFERS if one in offers),
        language=_one_of(answer["language"], LANGUAGES),
        confidence=round(float(sure), 4),
        analyzer=name,
    )


def _one_of(value: Any, known: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in known:
        raise ValueError(value)
    return value
