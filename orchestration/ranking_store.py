"""The ranker's files under the state folder, each there whole or not at all.

`ranking/models/<version>/` a fitted model, never changed; `ranking/looks/<measure>.json` every look at a measure, which
decide what is served; `ranking/told.parquet` what is told of today's ads, which the next build publishes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestration import durable
from orchestration.likelihoods import told_file
from orchestration.ranking.calibration import Calibration
from orchestration.ranking.evaluation import RECIPE, Evaluation
from orchestration.ranking.hazard import Hazards
from orchestration.ranking.likelihood import Ranker
from touchledger.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

TREES = "trees.txt"
FIT = "fit.json"
# two months of models, to look back at
KEPT = 8


@dataclass(frozen=True, kw_only=True)
class Model:
    """One version, fitted on all that was known on `day`; `ranked` and `worn` are the profiles and objectives in it."""

    version: int
    day: date
    recipe: int
    ranker: Ranker | None
    hazards: Mapping[str, Hazards]
    words: Mapping[str, Sequence[str]]
    ranked: tuple[tuple[str, str], ...]
    worn: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Looks:
    """Every look at one measure under the present recipe, and the last day on which one was tried."""

    taken: tuple[Evaluation, ...] = ()
    tried: date | None = None


class DamagedRankingError(RuntimeError):
    """A file of the ranker is damaged; the message says what to do."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is damaged; put it back from the backup (docs/runbook.md)")


class RankingStore:
    """Reads and writes the files; one run at a time."""

    def __init__(self, settings: Settings) -> None:
        self._home = settings.home / "ranking"
        self._told = told_file(settings)

    def newest(self) -> Model | None:
        """The newest version under the present recipe."""
        versions = self._versions()
        found = self._read(versions[-1]) if versions else None
        return found if found is not None and found.recipe == RECIPE else None

    def next_version(self) -> int:
        """A number that no model has had."""
        return max(self._versions(), default=0) + 1

    def add(self, model: Model) -> None:
        """Keep a new version."""
        durable.make_folder(self._home / "models")
        building, final = self._home / "models" / f".building-{model.version}", self._folder(model.version)
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir()
        if model.ranker is not None:
            durable.write_text(building / TREES, model.ranker.trees.model_to_string())
        durable.write_text(building / FIT, json.dumps(_as_json(model), indent=1))
        durable.put_in_place(building, final)
        for version in self._versions()[:-KEPT]:
            shutil.rmtree(self._folder(version))

    def looks(self, measure: str) -> Looks:
        """What was seen of a measure so far; looks of other recipes are kept in the file and left out here."""
        content = self._looks(measure)
        taken = [Evaluation.from_json(look) for look in content["looks"]]
        tried = date.fromisoformat(content["tried"]) if content["tried"] else None
        return Looks(tuple(look for look in taken if look.recipe == RECIPE), tried)

    def add_look(self, measure: str, day: date, look: Evaluation | None) -> None:
        """Keep that a look was tried, and what it found unless there was too little to see."""
        durable.make_folder(self._home / "looks")
        content = self._looks(measure)
        content["tried"] = day.isoformat()
        content["looks"] += [look.as_json()] if look else []
        durable.write_text(self._home / "looks" / f"{measure}.json", json.dumps(content, indent=1))

    def tell(self, told: pa.Table) -> None:
        """Replace what is told of today's ads."""
        import pyarrow.parquet as pq

        durable.make_folder(self._home)
        temporary = self._told.with_suffix(".tmp")
        pq.write_table(told, temporary)
        durable.put_in_place(temporary, self._told)

    def tell_nothing(self) -> None:
        """Forget what was told: no score and no model is left that it could be of."""
        self._told.unlink(missing_ok=True)

    def _versions(self) -> list[int]:
        return sorted(int(path.name) for path in self._home.glob("models/*") if path.name.isdigit())

    def _folder(self, version: int) -> Path:
        return self._home / "models" / str(version)

    def _read(self, version: int) -> Model:
        content = _read(self._folder(version) / FIT)
        return Model(
            version=version,
            day=date.fromisoformat(content["day"]),
            recipe=content["recipe"],
            ranker=self._ranker(version, content["calibration"]),
            hazards={event: Hazards.from_json(fitted) for event, fitted in content["hazards"].items()},
            words=content["words"],
            ranked=tuple((profile, objective) for profile, objective in content["ranked"]),
            worn=tuple((profile, objective) for profile, objective in content["worn"]),
        )

    def _ranker(self, version: int, calibration: dict[str, Any] | None) -> Ranker | None:
        trees = self._folder(version) / TREES
        if not trees.exists():
            return None
        import lightgbm

        curve = Calibration.from_json(calibration) if calibration else None
        try:
            return Ranker(lightgbm.Booster(model_str=trees.read_text()), curve)
        except (lightgbm.basic.LightGBMError, ValueError):
            raise DamagedRankingError(trees) from None

    def _looks(self, measure: str) -> dict[str, Any]:
        path = self._home / "looks" / f"{measure}.json"
        return _read(path) if path.exists() else {"tried": None, "looks": []}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except ValueError:
        raise DamagedRankingError(path) from None
    if not isinstance(content, dict):
        raise DamagedRankingError(path)
    return content


def _as_json(model: Model) -> dict[str, Any]:
    curve = model.ranker.calibration if model.ranker else None
    return {
        "day": model.day.isoformat(),
        "recipe": model.recipe,
        "calibration": curve.as_json() if curve else None,
        "hazards": {event: fitted.as_json() for event, fitted in model.hazards.items()},
        "words": {name: list(words) for name, words in model.words.items()},
        "ranked": model.ranked,
        "worn": model.worn,
    }
