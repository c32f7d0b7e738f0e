"""The whole way through the interface, in one deployment: each operation once at least, and its usual refusals."""

from __future__ import annotations

from typing import Any

from tests.recording import apps, changes, figures, outside, people, plans, tracking
from tests.recording.automatic import refuse_the_rest
from tests.recording.deployment import Place

SCENES = (
    *figures.SCENES, *plans.SCENES, *people.SCENES, *changes.SCENES, *tracking.SCENES, *apps.SCENES,
    *outside.SCENES, people.trails,
)  # fmt: skip


def recorded(place: Place) -> dict[str, dict[str, Any]]:
    """What `api/examples.json` holds. Raises UnexpectedAnswerError where an operation answers otherwise than it did."""
    who = people.arrive(place)
    for scene in SCENES:
        scene(place, who)
    refuse_the_rest(place.recorder, who)
    return place.recorder.kept
