"""The golden profile of the campaign tests, published in a deployment of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from api.models import Profile
from api.reports import LEVELS, figures
from api.reports.figures import Figures
from api.served import profile_facts
from api.snapshot import snapshots
from api.windows import DateRange
from tests.factories import served
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "campaigns"
PROFILE = "01900000-0000-7000-8000-00000000aaaa"
WINDOW = DateRange(date(2026, 3, 1), date(2026, 3, 2))

Gather = Callable[..., Figures]


@pytest.fixture
def gather(tmp_path: Path) -> Iterator[Gather]:
    """Gathers figures of the golden profile, or of another name for its first campaign."""
    settings = Settings(home=tmp_path, query_deadline_seconds=60)

    def gathered(
        template: str = "performance_summary",
        *,
        name: str | None = None,
        budget: Decimal | None = None,
        currency: str = "USD",
        window: DateRange = WINDOW,
        scores: Sequence[Mapping[str, object]] = (),
    ) -> Figures:
        tables = {**served.from_csv(GOLDEN), "ad_scores": [dict(row) for row in scores]}
        if name is not None:
            for row in tables["entities"]:
                row["name"] = name
        served.publish(settings.published, tables)
        with snapshots(settings).reader() as reader:
            assert reader is not None
            facts = profile_facts(reader, PROFILE)
            assert facts is not None
            of = Profile(name="Shop", timezone=facts.time_zone, reporting_currency=currency, monthly_budget=budget)
            return figures.gather(reader, facts, window, level=LEVELS[template], of=of)

    yield gathered
    snapshots(settings).close()
