"""What the README promises: the demo's answer to the printed request, and the paths it sends readers to."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

from sandbox.ledger import Ledger
from sandbox.world import build
from touchledger.demo import DEMO_PROFILE_ID
from touchledger.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_printed_answer_is_what_the_demos_truth_says() -> None:
    answer = json.loads(re.findall(r"```json\n(.*?)```", README, re.S)[0])
    row = answer["data"][0]
    window = date(2026, 10, 20), date(2026, 11, 16)
    settings = Settings()
    world = build(
        seed=settings.demo_seed, today=settings.demo_today, days=settings.demo_days, people=settings.demo_people
    )
    ledger = Ledger(world, DEMO_PROFILE_ID)
    credit = ledger.credit("linear", "campaign", *window)
    best = max(credit, key=lambda entity: credit[entity].cash_minor)
    spend = ledger.spend("campaign", *window)[best].spend_minor
    assert row["platform_id"] == best
    assert row["outcome_value"] == credit[best].cash_minor / 100
    assert row["attributed_outcomes_by_type"] == dict(sorted(credit[best].counts.items()))
    assert row["outcome_count"] == credit[best].counts["payment_received"]
    assert row["spend"] == spend / 100
    assert row["roas"] == round(credit[best].cash_minor / spend, 8)


def test_every_path_it_names_is_there() -> None:
    named = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert len(named) >= 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_of_the_docs_is_reached_from_it() -> None:
    reached, opened = set[Path](), [ROOT / "README.md"]
    while opened:
        page = opened.pop()
        reached.add(page)
        links = re.findall(r"\]\((?!http)([^)#]+\.md)", page.read_text())
        opened += {(page.parent / link).resolve() for link in links} - reached
    assert set((ROOT / "docs").glob("*.md")) - reached == set()
