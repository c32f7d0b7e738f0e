"""What of a person goes with a conversion, out of a published snapshot."""

from __future__ import annotations

from datetime import UTC, datetime

from api.exports import candidates
from api.exports.candidates import Candidate
from api.served import profile_facts
from api.snapshot import snapshots
from tests.api.exports.conftest import HASH, Exporting


def found(exporting: Exporting, *names: str) -> list[Candidate]:
    with snapshots(exporting.settings).reader() as reader:
        assert reader is not None
        facts = profile_facts(reader, exporting.profile.id)
        assert facts is not None
        known = candidates.named(reader, facts, [exporting.id_of(name) for name in names])
    return [known[exporting.id_of(name)] for name in names]


def test_each_conversion_goes_with_its_own_click_and_with_none_where_none_came_before_it(exporting: Exporting) -> None:
    sales = [exporting.conversion(name, conversion_key=key) for key, name in enumerate(("one", "two", "three"))]
    clicks = [(1, "AbC", 10), (2, "New", 20)]
    exporting.publish(*sales, clicks=clicks)
    one, two, three = (candidate.match for candidate in found(exporting, "one", "two", "three"))
    assert {match.email for match in (one, two, three)} == {HASH}
    assert (one.click_id, one.clicked_at) == (None, None)
    assert (two.click_id, two.clicked_at) == ("AbC", datetime.fromtimestamp(10, UTC))
    assert (three.click_id, three.clicked_at) == ("New", datetime.fromtimestamp(20, UTC))
