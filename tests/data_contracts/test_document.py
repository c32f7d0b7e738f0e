"""docs/data.md is what the contracts say."""

from data_contracts.document import PAGE, page


def test_the_page_of_the_data_sets_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: python -m data_contracts.document"
