"""docs/decisions.md: every decision has a chapter, and its list of chapters leads to each of them."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "docs" / "decisions.md").read_text()
LIST, *CHAPTERS = re.split(r"^## ", TEXT, flags=re.MULTILINE)


def test_the_list_leads_to_every_chapter() -> None:
    names = [chapter.partition("\n")[0] for chapter in CHAPTERS]
    anchors = [re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in names]
    assert re.findall(r"^- \[(.*)\]\(#(.*)\)$", LIST, flags=re.MULTILINE) == list(zip(names, anchors, strict=True))


def test_every_decision_stands_once_in_a_chapter_with_its_reason() -> None:
    assert "\n### " not in LIST
    decisions = re.findall(r"^### (.*)\n+(.*)", TEXT, flags=re.MULTILINE)
    assert len(decisions) > 300
    assert len({name for name, _ in decisions}) == len(decisions)
    assert [name for name, reason in decisions if not reason or reason.startswith("#")] == []
    for chapter in CHAPTERS:
        assert chapter.partition("\n")[2].startswith("\n### "), chapter[:60]
