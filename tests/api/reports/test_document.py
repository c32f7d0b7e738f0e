"""Reports as HTML, PDF and CSV: other people's data stays data, nothing is fetched, and bytes follow from figures."""

from __future__ import annotations

import base64
import csv
import io
import re
import sys
import threading
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from api.quoting import apart
from api.reports import TEMPLATES, pdf
from api.reports.document import Brand, Order, neutral, render
from api.windows import DateRange
from tests.api.reports.conftest import Gather

PLAIN = Order("performance_summary", "en", "html", "Shop", Brand("Agency"))


class Seen(HTMLParser):
    """The tags of a document, the addresses it names, and its text."""

    def __init__(self, document: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words = ""
        self.feed(document.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href"}]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address on this machine, and the paths that anybody asked it for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def streams(document: bytes) -> bytes:
    """What a PDF holds, unpacked."""
    found = [document]
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", document, re.S):
        try:
            found.append(zlib.decompress(packed))
        except zlib.error:
            continue
    return b"\n".join(found)


def attacks(address: str, secret: Path) -> list[str]:
    return [
        f'<img src="file://{secret}"><img src="{address}/img">',
        f'"><link rel="attachment" href="file://{secret}"><link rel=stylesheet href="{address}/css">',
        f"</style><style>@import url({address}/import); body {{ background: url(file://{secret}) }}",
        f'<a rel="attachment" href="file://{secret}">x</a><iframe src="{address}/frame"></iframe><script>1</script>',
        "{{ 7 * 7 }}{% include '/etc/passwd' %}${7*7}$x^2$",
    ]


def test_hostile_names_and_branding_are_text_and_fetch_nothing(
    gather: Gather, listener: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = listener
    secret = tmp_path / "secret.txt"
    secret.write_text("canary of a file")
    for attack in attacks(address, secret)[:-1]:
        brand = Brand(attack, f"red}} @import url({address}/color);", f"url({address})", f"{address}/x", attack)
        order = replace(PLAIN, profile_name=attack, brand=brand)
        seen = Seen(render(order, gather(name=attack)))
        assert set(seen.tags).isdisjoint({"link", "iframe", "script", "object", "embed", "a"})
        assert seen.tags.count("style") == 1
        assert all(one.startswith("data:image/svg+xml;base64,") for one in seen.addresses)
        assert attack in seen.words
        assert f"@import url({address}/color)" not in seen.words
    whole = " ".join(attacks(address, secret))
    brand = Brand(whole, f"red}} @import url({address}/color);", "#zzzzzz", f"file://{secret}", whole)
    written = render(replace(PLAIN, profile_name=whole, brand=brand, format="pdf"), gather(name=whole))
    assert written.startswith(b"%PDF")
    held = streams(written)
    assert b"canary of a file" not in held
    assert b"/EmbeddedFile" not in held
    assert asked == []


@pytest.mark.parametrize(
    "element",
    [
        '<img src="{0}">',
        '<link rel="stylesheet" href="{0}">',
        '<link rel="attachment" href="{0}">',
        '<a rel="attachment" href="{0}">x</a>',
        "<style>@import url({0})</style>",
        "<style>body {{ background: url({0}) }}</style>",
        '<object data="{0}" type="image/png"></object>',
    ],
)
@pytest.mark.parametrize("scheme", ["file", "http", "data"])
def test_a_document_that_asks_for_anything_else_is_not_written(
    element: str, scheme: str, listener: tuple[str, list[str]], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("canary of a file")
    address = {"file": f"file://{secret}", "http": f"{listener[0]}/x", "data": "data:text/plain,canary"}[scheme]
    with pytest.raises(pdf.NotAnAssetError):
        pdf.written(f"<html><body>{element.format(address)}</body></html>", {})
    assert listener[1] == []


def test_a_formula_in_a_name_is_text_in_a_spreadsheet(gather: Gather) -> None:
    name = '=HYPERLINK("http://evil.example","x")'
    content = render(replace(PLAIN, format="csv"), gather(name=name))
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {row["campaign_name"] for row in rows} == {f"'{name}"}
    assert [neutral(cell) for cell in ("-1+1", " =1", "+1", "@x", "\t=1", "a=1", -1.5, None)] == [
        "'-1+1", "' =1", "'+1", "'@x", "'\t=1", "a=1", -1.5, None,
    ]  # fmt: skip


def test_a_formula_behind_a_semicolon_is_text_where_that_parts_the_cells() -> None:
    # so it does in Spanish and German Excel, which opens this file without asking
    told = [neutral(cell) for cell in ("a;=1+cmd|' /C calc'!A0;", "a; \u200b-1;+2", "a; b=1", ";=1", "=1;=2", "a\n=1")]
    assert told == ["a;'=1+cmd|' /C calc'!A0;", "a; \u200b'-1;'+2", "a; b=1", ";'=1", "'=1;'=2", "a\n'=1"]


def test_a_name_is_written_in_its_own_direction_and_does_not_turn_the_days_beside_it(gather: Gather) -> None:
    hebrew = "\u05de\u05d1\u05e6\u05e2 50%! (A)"
    order = replace(PLAIN, profile_name="Shop\u2069\u202e", brand=Brand("Agency\u202e"))
    page = render(order, gather(name=hebrew)).decode()
    assert "<bdi>Shop</bdi></strong> · Mar 1, 2026" in page
    assert "<bdi>Agency</bdi>" in page
    assert f'dir="auto">{hebrew}</td>' in page
    if pdf.is_available():
        # what writes PDF knows no `dir`, and heeds signs alone
        plain, marked = (render(replace(order, format="pdf"), gather(name=one)) for one in (hebrew, apart(hebrew)))
        assert plain == marked


@pytest.mark.parametrize("template", TEMPLATES)
def test_each_row_of_a_spreadsheet_tells_currency_model_and_days_of_its_figures(gather: Gather, template: str) -> None:
    content = render(replace(PLAIN, format="csv", template=template), gather(template))
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {(row["currency"], row["model"]) for row in rows} == {("USD", "last_touch")}
    days = [(row["date"], row["date"]) if "date" in row else (row["date_from"], row["date_to"]) for row in rows]
    whole, each = ("2026-03-01", "2026-03-02"), [("2026-03-01",) * 2, ("2026-03-02",) * 2]
    assert days == (each if template == "pacing" else [whole] * len(rows))


@pytest.mark.parametrize("form", ["html", "csv", "pdf"])
def test_the_same_figures_give_the_same_bytes(gather: Gather, form: str) -> None:
    found = gather()
    first = render(replace(PLAIN, format=form), found)
    assert render(replace(PLAIN, format=form), found) == first
    assert render(replace(PLAIN, format=form, profile_name="Another"), found) != first or form == "csv"


def test_headlines_and_rows_are_the_figures_worked_out_by_hand(gather: Gather) -> None:
    found = gather()
    assert (found.current["spend"], found.current["revenue"], found.current["roas"]) == (38.5, 300.66, 7.80935065)
    words = Seen(render(PLAIN, found)).words
    for expected in ("USD 38.50", "USD 300.66", "7.81", "USD 12.83", "60.0 %", "Mar 1, 2026 – Mar 2, 2026"):
        assert expected in words
    assert "Feb 27, 2026 – Feb 28, 2026" in words


def test_spanish_reports_write_words_numbers_and_dates_in_spanish(gather: Gather) -> None:
    words = Seen(render(replace(PLAIN, locale="es"), gather())).words
    for expected in ("Resumen de rendimiento", "Inversión", "300,66 USD", "1 mar 2026 – 2 mar 2026", "60,0 %"):
        assert expected in words
    assert "Spend" not in words


def test_every_template_has_its_own_sections(gather: Gather) -> None:
    shown = {}
    for template in TEMPLATES:
        order = replace(PLAIN, template=template)
        shown[template] = Seen(render(order, gather(template, budget=Decimal("310")))).words
    assert "Where conversions came from" in shown["performance_summary"]
    assert "Ad set" in shown["creative_review"]
    # 38.50 in two of 31 days, of a budget of 310.00; 1038.49 in the seven days through the second, and 29 days left
    for expected in ("USD 310.00", "12.4 %", "USD 20.00", "USD 4,340.82"):
        assert expected in shown["pacing"]


def test_the_creative_review_shows_scores_and_marks_the_provisional(gather: Gather) -> None:
    of = {"profile_key": 1, "score_window": "28d", "score_date": "2026-03-02", "day_from": "2026-02-03"}
    scores = [
        {**of, "entity_key": 31, "composite_score": 83.449, "maturity_stage": "calibrated"},
        {**of, "entity_key": 32, "composite_score": 50.04, "maturity_stage": "cold"},
        {**of, "entity_key": 31, "score_window": "7d", "composite_score": 11.0, "maturity_stage": "cold"},
    ]
    order = replace(PLAIN, template="creative_review")
    words = Seen(render(order, gather("creative_review", scores=scores))).words
    for expected in (
        "Score",
        "83.4",
        "50.0 *",
        "over the 28 days through Mar 2, 2026",
        "* Provisional: too little data",
    ):
        assert expected in words
    settled = Seen(render(order, gather("creative_review", scores=scores[:1]))).words
    assert "over the 28 days" in settled and "Provisional" not in settled
    assert "11.0" not in words
    lines = render(replace(order, format="csv"), gather("creative_review", scores=scores)).decode().splitlines()
    told = {
        tuple(row[name] for name in ("composite_score", "maturity_stage", "score_date"))
        for row in csv.DictReader(lines)
    }
    assert told >= {("83.4", "calibrated", "2026-03-02"), ("50.0", "cold", "2026-03-02")}
    assert "Provisional" not in Seen(render(order, gather("creative_review"))).words


@pytest.mark.parametrize(
    ("date_to", "spent", "expected", "projected"),
    [
        # a day before the last whole one: the seven through it had 1012.99, and 30 days are left
        (date(2026, 3, 1), "13.00", "10.00", "4,354.39"),
        # delivery is complete through March 2; what came on the third is no whole day
        (date(2026, 3, 20), "38.50", "20.00", "4,340.82"),
        # no day of April is there yet: 1038.49 in seven days, and 30 days
        (date(2026, 4, 5), "0.00", "0.00", "4,450.67"),
    ],
)
def test_pacing_ends_with_the_last_day_of_complete_delivery(
    gather: Gather, date_to: date, spent: str, expected: str, projected: str
) -> None:
    found = gather("pacing", budget=Decimal("310"), window=DateRange(date_to.replace(day=1), date_to))
    words = Seen(render(replace(PLAIN, template="pacing"), found)).words
    for amount in (spent, expected, projected):
        assert f"USD {amount}" in words
    assert [row["date"] for row in found.month_days] == [day for day in found.window.days() if day <= date(2026, 3, 2)]


def test_a_budget_in_another_currency_than_the_figures_is_left_out(gather: Gather) -> None:
    found = gather("pacing", budget=Decimal("310"), currency="EUR")
    for locale, note in (("en", "in another currency"), ("es", "en otra moneda")):
        words = Seen(render(replace(PLAIN, template="pacing", locale=locale), found)).words
        assert "310" not in words
        assert note in words


def test_pacing_without_a_budget_says_so(gather: Gather) -> None:
    assert "No monthly budget is set." in Seen(render(replace(PLAIN, template="pacing"), gather("pacing"))).words


def test_the_logo_is_part_of_the_file(gather: Gather) -> None:
    logo = b"\x89PNG of a logo"
    brand = Brand("Agency", logo=(logo, "image/png"))
    addresses = Seen(render(replace(PLAIN, brand=brand), gather())).addresses
    assert addresses[0] == f"data:image/png;base64,{base64.b64encode(logo).decode()}"


def test_a_machine_without_the_libraries_writes_no_pdf(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    assert not pdf.is_available()
    with pytest.raises(pdf.Unavailable):
        render(replace(PLAIN, format="pdf"), gather())
    assert render(PLAIN, gather()).startswith(b"<!doctype html>")
