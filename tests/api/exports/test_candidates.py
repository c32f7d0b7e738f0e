"""What of a person goes with a conversion, out of a published snapshot."""

from __future__ import annotations

import pytest

from api.exports import candidates
from api.served import profile_facts
from api.snapshot import snapshots
from tests.api.exports.conftest import HASH, Exporting


@pytest.mark.parametrize(("seconds_before", "click_id"), [(1, "AbC"), (0, "AbC"), (-1, None)])
def test_a_click_goes_with_what_came_after_it_only(
    exporting: Exporting, seconds_before: int, click_id: str | None
) -> None:
    sale = exporting.conversion("one")
    exporting.publish(sale, fbclid="AbC", clicked_s=sale["ts"] - seconds_before)
    with snapshots(exporting.settings).reader() as reader:
        assert reader is not None
        facts = profile_facts(reader, exporting.profile.id)
        assert facts is not None
        (found,) = candidates.named(reader, facts, [exporting.id_of("one")]).values()
    assert (found.match.email, found.match.click_id) == (HASH, click_id)
    assert (found.match.clicked_at is None) == (click_id is None)
