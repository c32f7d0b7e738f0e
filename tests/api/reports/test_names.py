"""What the file of a report is called, in whatever letters its profile is named."""

from __future__ import annotations

from datetime import date

import pytest
from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from api.models import Report
from api.reports.names import attachment, attachment_name

REPORT = Report(template="pacing", date_to=date(2026, 3, 2), format="pdf")


@pytest.mark.parametrize(
    ("profile", "name", "plain"),
    [
        ("Golden & Co", "Golden-Co", "Golden-Co"),
        ("Peluquería Ñandú", "Peluquería-Ñandú", "Peluqueria-Nandu-"),
        ("東京店 (2)", "東京店-2", "2-"),
        ("सेल की दुकान", "सेल-की-दुकान", ""),
        ("חנות\u202e/../הספרים", "חנות-הספרים", ""),
        ('x"; filename=evil.exe\r\nX: y', "x-filename-evil-exe-X-y", "x-filename-evil-exe-X-y"),
        ("🎉\u200b", "report", "report"),
        ("ß" * 60, "ß" * 40, ""),
    ],
)
def test_a_file_is_named_after_its_profile(profile: str, name: str, plain: str) -> None:
    whole = attachment_name(REPORT, profile)
    assert whole == f"{name}-pacing-2026-03-02.pdf"
    header = attachment(whole)
    assert Headers([("Content-Disposition", header)])["Content-Disposition"].isascii()
    kind, told = parse_options_header(header)
    assert (kind, told["filename"]) == ("attachment", whole)
    if not whole.isascii():
        assert f"; filename={plain}pacing-2026-03-02.pdf; " in header
