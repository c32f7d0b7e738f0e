"""What goes into an analyser and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Creative:
    """What a creative shows, as the platform told it; `format` is video, image, carousel or collection."""

    format: str | None
    title: str | None
    body: str | None
    call_to_action: str | None
    video_id: str | None = None
    thumbnail_url: str | None = None

    def told(self) -> dict[str, Any]:
        """As an analyser elsewhere is told."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Findings:
    """What an analyser read: words of the catalogue, null where the creative does not tell.

    `confidence` is 0 to 1; `analyzer` names who says so, with a version: `rules/2`.
    """

    hook_type: str | None
    creative_format: str | None
    cta_type: str | None
    primary_angle: str | None
    offers: tuple[str, ...]
    language: str | None
    confidence: float
    analyzer: str

    def told(self) -> dict[str, Any]:
        """The `result` of a job."""
        return {**asdict(self), "offers": list(self.offers)}


class Analyser(Protocol):
    """Reads one creative. Raises ConnectorError when it cannot say, and may be asked again."""

    def analyse(self, creative: Creative) -> Findings: ...


def creative_of(row: Mapping[str, Any]) -> Creative:
    """The creative of an ad's row (`ad_creatives`), or of a job."""
    return Creative(**{name: row[name] for name in Creative.__dataclass_fields__})
