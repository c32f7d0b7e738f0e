"""Tables of reports stay readable whatever stands in them."""

from __future__ import annotations

import re
from dataclasses import replace

from api.reports import pdf
from api.reports.document import Brand, Order, render
from tests.api.reports.conftest import Gather
from tests.api.reports.test_document import streams

NAME = "Retargeting_Visitors_30D_NoPurchase_Women_25-44_Lookalike_1pct_copy_copy"


def test_large_amounts_leave_an_ad_set_room_for_its_name(gather: Gather) -> None:
    found = gather("creative_review")
    amounts = {"parent_name": NAME, "spend": 9876543.21, "outcome_value": 98765432.1, "impressions": 98765432}
    rows = [{**found.entities[0], **amounts}] * 10
    order = Order("creative_review", "es", "pdf", "Shop", Brand("Agency"))
    if pdf.is_available():
        # two letters to a line left room for a few rows on a page
        written = streams(render(order, replace(found, entities=rows)))
        assert re.findall(rb"/Count (\d+)", written)[0] == b"2"


def test_who_listens_to_a_pdf_hears_headings_and_the_heads_of_tables(gather: Gather) -> None:
    if pdf.is_available():
        written = streams(render(Order("pacing", "en", "pdf", "Shop", Brand("Agency")), gather("pacing")))
        assert b"/Marked true" in written and b"/DisplayDocTitle true" in written and b"/Lang (en)" in written
        kinds = [len(re.findall(rb"/S /" + kind + rb"\b", written)) for kind in (b"H1", b"H2", b"TH", b"TD", b"Figure")]
        assert kinds == [1, 2, 4, 8, 1]
