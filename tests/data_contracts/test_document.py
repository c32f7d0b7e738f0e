"""docs/data.md is what the contracts say."""

import re

from data_contracts.contract import served
from data_contracts.document import PAGE, page


def test_the_page_of_the_data_sets_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: python -m data_contracts.document"


def test_a_figure_without_a_scale_is_not_told_as_a_decimal_with_one() -> None:
    """Scores were told as decimal(18,4), which no unrounded double equals."""
    _, _, part = page().partition("\n## Served\n")
    told = dict(re.findall(r"^\| `(composite_score|ci_low|platform_lift)` \| ([^|]+) \|", part, re.MULTILINE))
    assert told["composite_score"] == told["ci_low"] == "double"
    assert told["platform_lift"] == "decimal(18,4)"
    assert served()["ad_scores"].column["composite_score"].physical == "double"
