"""The ranker's files: one that is damaged is named, with the way out."""

from __future__ import annotations

import json

import pytest

from orchestration.ranking_store import FIT, TREES, DamagedRankingError, RankingStore
from touchledger.settings import Settings

FITTED = {"day": "2026-03-01", "recipe": 0, "calibration": None, "hazards": {}, "words": {}, "ranked": [], "worn": []}


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]"])
def test_a_damaged_file_is_named_with_the_way_out(settings: Settings, content: bytes) -> None:
    # the job ended with "Expecting value: line 1 column 1", and the next one too
    store, model = RankingStore(settings), settings.home / "ranking" / "models" / "1"
    looks = settings.home / "ranking" / "looks" / "fatigue.json"
    looks.parent.mkdir(parents=True)
    looks.write_bytes(content)
    with pytest.raises(DamagedRankingError) as told:
        store.looks("fatigue")
    assert str(told.value) == f"{looks} is damaged; put it back from the backup (docs/runbook.md)"
    model.mkdir(parents=True)
    (model / FIT).write_bytes(content)
    with pytest.raises(DamagedRankingError, match=f"{FIT} is damaged"):
        store.newest()
    (model / FIT).write_text(json.dumps(FITTED))
    assert store.newest() is None, "of another recipe"
    (model / TREES).write_bytes(b"" if content == b"[]" else content)
    with pytest.raises(DamagedRankingError, match=f"{TREES} is damaged"):
        store.newest()
