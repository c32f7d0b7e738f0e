"""What the address of a page tells, and what no host is."""

from __future__ import annotations

import pytest

from api.collecting.page import host_of, page_of


def test_a_host_is_told_in_any_script() -> None:
    assert host_of("https://café.example:8443/a?b#c") == "café.example"
    assert page_of(" https://日本.example/?utm_source=meta".strip()).host == "日本.example"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0301\uff9e"])
def test_a_host_of_very_many_marks_is_none(marks: str) -> None:
    address = "https://a" + marks * 100_000
    assert host_of(address) is None
    with pytest.raises(ValueError, match="not an address of a page"):
        page_of(address)


def test_an_ad_id_that_a_spreadsheet_rounded_is_left_out_and_the_visit_stays() -> None:
    page = page_of("https://shop.example/?ad_platform=meta&ad_id=1.20212E%2B17&campaign_id=120212000000000001")
    assert page.parameters.ad == {"ad_platform": "meta", "campaign_id": "120212000000000001"}
