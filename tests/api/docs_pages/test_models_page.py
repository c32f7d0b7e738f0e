"""The models page: what it shows is docs/models.md, and its worked tables are right to the last digit."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

from flask.testing import FlaskClient

from api.docs_pages.article import DOCS, rendered

TEXT = (DOCS / "models.md").read_text()
BY_HAND = TEXT.split("### By hand")[1].split("\n## ")[0]
MODELS = ("last_touch", "first_touch", "last_non_direct", "linear", "time_decay")
TOUCHES = {"A": (9, 6, 3), "direct": (2,), "B": (1,)}


def _tables(text: str) -> list[list[list[str]]]:
    """Cells of every table of the text, without its heading rows."""
    found = re.findall(r"((?:^\|.*\n)+)", text, flags=re.MULTILINE)
    return [[_cells(row) for row in table.splitlines()[2:]] for table in found]


def _cells(row: str) -> list[str]:
    return [cell.strip(" *`") for cell in row.strip("|").split("|")]


def _decay(age: int) -> Fraction:
    """2^(-age/7) to 50 digits."""
    with localcontext() as context:
        context.prec = 50
        return Fraction(Decimal(2) ** (Decimal(-age) / 7))


def _path() -> list[tuple[str, int]]:
    """The path that the sentence above the table tells: each touch and its age in days, the oldest first."""
    sentence = " ".join(BY_HAND.split("\n\n")[1].split())
    assert sentence == (
        "A payment of 100.00; A 9, 6 and 3 days before it, direct 2 days before, B 1 day before; h = 7 days."
    )
    return [(name, age) for name, ages in TOUCHES.items() for age in ages]


def _weights() -> dict[str, list[Fraction]]:
    """Each touch's weight under each model, by the formulas of the page."""
    path = _path()
    decays = [_decay(age) for _, age in path]
    last_named = max(n for n, (name, _) in enumerate(path) if name != "direct")
    one = {"last_touch": len(path) - 1, "first_touch": 0, "last_non_direct": last_named}
    single = {model: [Fraction(n == chosen) for n in range(len(path))] for model, chosen in one.items()}
    shared = {"linear": [Fraction(1, len(path))] * len(path), "time_decay": [d / sum(decays) for d in decays]}
    return single | shared


def _shares() -> dict[str, dict[str, Fraction]]:
    """Each destination's part of the 10,000 cents, unrounded."""
    names = [name for name, _ in _path()]
    return {
        model: {name: sum((w * 10_000 for of, w in zip(names, weights, strict=True) if of == name), Fraction())
                for name in TOUCHES}
        for model, weights in _weights().items()
    }  # fmt: skip


def _split(parts: dict[str, Fraction]) -> dict[str, int]:
    """Whole cents: what is left over goes, one each, to the largest fractions."""
    whole = {name: int(part) for name, part in parts.items()}
    over = 10_000 - sum(whole.values())
    for name in sorted(parts, key=lambda name: parts[name] - whole[name], reverse=True)[:over]:
        whole[name] += 1
    return whole


def _near(cell: str, value: Fraction, digits: int = 6) -> bool:
    return bool(Decimal(cell or "0").scaleb(digits) == round(value * 10**digits))


def test_the_weights_by_hand_are_the_formulas() -> None:
    *rows, total = _tables(BY_HAND)[0]
    assert [(row[0], row[1]) for row in rows] == [(name, f"{age} d") for name, age in _path()]
    weights = _weights()
    for n, (_, age, *cells) in enumerate(rows):
        last, first, named, linear, decay, share = cells
        assert _near(decay, _decay(int(age.removesuffix(" d"))))
        for model, cell in zip(MODELS, (last, first, named, linear, share), strict=True):
            assert _near(cell, weights[model][n]), (model, n)
    assert total[2:6] + total[7:] == ["1"] * 5
    assert _near(total[6], sum((_decay(age) for _, age in _path()), Fraction()))


def test_the_money_by_hand_adds_up_and_its_cents_fall_where_the_rule_says() -> None:
    rows = {model: cells for model, *cells in _tables(BY_HAND)[1]}
    assert tuple(rows) == MODELS
    for model, (a, b, direct, counts) in rows.items():
        cents = _split(_shares()[model])
        assert [int(Decimal(cell) * 100) for cell in (a, b, direct)] == [cents["A"], cents["B"], cents["direct"]]
        assert counts == f"{int(cents['A'] > 0)}, {int(cents['B'] > 0)}"


def test_the_cents_left_over_are_those_of_the_sentence() -> None:
    told = re.search(r"A ([\d.]+), direct ([\d.]+), B ([\d.]+)\. The whole parts make ([\d,]+); the two", BY_HAND)
    assert told
    parts = _shares()["time_decay"]
    for cell, name in zip(told.groups(), ("A", "direct", "B"), strict=False):
        assert _near(cell, parts[name], 3)
    assert int(told[4].replace(",", "")) == sum(map(int, parts.values())) == 9_998
    assert [name for name in parts if _split(parts)[name] > int(parts[name])] == ["A", "direct"]


def test_the_page_shows_every_heading_and_every_row_of_the_file(client: FlaskClient) -> None:
    page = client.get("/docs/models").text
    headings = re.findall(r"^##+ (.+)$", TEXT, flags=re.MULTILINE)
    assert re.findall(r"<h[23] id=\"[a-z0-9-]+\">(.+?)</h", page) == headings
    assert page.count("<tr>") == sum(len(table) + 1 for table in _tables(TEXT))
    assert page.count("<table>") == page.count("</table></div>") == page.count('<div class="scroll"')
    for anchor in re.findall(r'href="#([a-z0-9-]+)"', page):
        assert f'id="{anchor}"' in page


def test_a_link_to_sql_leads_to_the_model_in_the_data_documentation(client: FlaskClient) -> None:
    named = set(re.findall(r"/docs/data#!/model/model\.touchledger\.(\w+)", client.get("/docs/models").text))
    linked = set(re.findall(r"\]\((\.\./[^)]+\.sql)\)", TEXT))
    assert {path.split("/")[-1] for path in linked} == {f"{name}.sql" for name in named}
    assert all((DOCS / path).resolve().is_file() for path in linked)


def test_html_inside_an_article_is_text() -> None:
    told = rendered('# T\n\n<script>x()</script> <b onclick="x()">b</b> [l](javascript:x())\n')
    assert "<script" not in told.body
    assert "<b " not in told.body
    assert 'href="javascript' not in told.body
