"""What stands in each template: headline figures, charts and tables, in words of one language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from api.reports import charts
from api.reports.figures import MODEL, Figures
from api.reports.labels import ABSENT, Words
from api.v1.top_performers.terms import SETTLED

Cell = str | float | int | date | None
DEFAULT_COLORS = ("#2f5d8a", "#d9822b")
MOST_IN_CHART = 10
PROVISIONAL = " *"
UNSCORED: Mapping[str, Any] = {"composite_score": None, "maturity_stage": None, "score_date": None}
AMOUNTS = frozenset({"spend", "spent", "revenue", "cash_revenue", "cac"})


@dataclass(frozen=True)
class Headline:
    """One figure, with its change against the window before; `tone` is good, bad or plain."""

    label: str
    value: str
    change: str = ""
    tone: str = "plain"


@dataclass(frozen=True)
class Table:
    """Rows of text; the first column is a name, and so are those of `texts`; the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    texts: Sequence[int] = ()


@dataclass(frozen=True)
class Content:
    """A template filled in. `sheet` is the same for a spreadsheet: unrounded, and named as the API names it."""

    headlines: Sequence[Headline]
    charts: Sequence[tuple[str, bytes]]
    tables: Sequence[Table]
    notes: Sequence[str]
    sheet: Sequence[Sequence[Cell]] = field(default_factory=list)


def filled(template: str, figures: Figures, words: Words, colors: tuple[str, str]) -> Content:
    """The content of a template for these figures."""
    return _FILLERS[template](figures, words, colors)


def _performance_summary(figures: Figures, words: Words, colors: tuple[str, str]) -> Content:
    amount = _amount(figures, words)
    picture = charts.days(
        [words.short_day(row["date"]) for row in figures.days],
        (words("spend"), [row["spend"] for row in figures.days]),
        (words("revenue"), [row["revenue"] for row in figures.days]),
        colors,
        words.short,
    )
    rows = [
        [row["campaign_name"] or ABSENT, amount(row["spend"]), amount(row["outcome_value"]),
         words.number(row["outcome_count"]), words.number(row["attributed_outcome_count"]),
         words.number(row["roas"], 2), amount(row["cac"])]
        for row in figures.entities
    ]  # fmt: skip
    columns = ("campaign", "spend", "revenue", "payments", "outcomes", "roas", "cac")
    sheet = ("campaign_id", "campaign_name", "platform", "spend", "outcome_value", "outcome_count",
             "attributed_outcome_count", "roas", "cac", "impressions", "clicks")  # fmt: skip
    return Content(
        _headlines(figures, words),
        [(words("per_day"), picture)],
        [_entities("campaigns", columns, rows, figures, words), _sources(figures, words)],
        _notes(figures, words),
        _sheet(sheet, figures.entities, _of_window(figures)),
    )


def _creative_review(figures: Figures, words: Words, colors: tuple[str, str]) -> Content:
    amount = _amount(figures, words)
    best = [one for one in enumerate(figures.entities, start=1) if one[1]["outcome_value"] > 0][:MOST_IN_CHART]
    names = {place: charts.written(row["campaign_name"] or ABSENT) for place, row in best}
    pictures = []
    if best:
        labels = [name or f"#{place}" for place, name in names.items()]
        values = [row["outcome_value"] for _, row in best]
        pictures = [(words("best_ads"), charts.ranking(labels, values, colors[0], words.short))]
    rows = [
        [row["campaign_name"] or ABSENT, row["parent_name"] or ABSENT, amount(row["spend"]),
         words.number(row["impressions"]), words.number(row["ctr"], 2, unit=" %"), amount(row["outcome_value"]),
         words.number(row["roas"], 2), _score(figures.scores.get(row["campaign_id"]), words)]
        for row in figures.entities
    ]  # fmt: skip
    columns = ("ad", "ad_set", "spend", "impressions", "ctr", "revenue", "roas", "score")
    sheet = ("campaign_id", "campaign_name", "parent_name", "platform", "spend", "impressions", "clicks", "ctr",
             "outcome_value", "outcome_count", "roas", "cac", "composite_score", "maturity_stage",
             "score_date")  # fmt: skip
    scored = [{**row, **figures.scores.get(row["campaign_id"], UNSCORED)} for row in figures.entities]
    told = [words("scores", words.day(figures.scored_to))] if figures.scored_to else []
    told += [words("provisional")] if any(row[-1].endswith(PROVISIONAL) for row in rows) else []
    told += [words("numbered")] if "" in names.values() else []
    return Content(
        _headlines(figures, words),
        pictures,
        [_entities("ads", columns, rows, figures, words)],
        [*_notes(figures, words), *told],
        _sheet(sheet, scored, _of_window(figures), renamed={"campaign_id": "ad_id", "campaign_name": "ad_name"}),
    )


def _score(row: Mapping[str, Any] | None, words: Words) -> str:
    """A score whose place may still move a lot is marked as provisional."""
    if row is None or row["composite_score"] is None:
        return ABSENT
    mark = "" if row["maturity_stage"] in SETTLED else PROVISIONAL
    return f"{words.number(row['composite_score'], 1)}{mark}"


def _pacing(figures: Figures, words: Words, colors: tuple[str, str]) -> Content:
    money, amount = _money(figures, words), _amount(figures, words)
    added, total = [], 0.0
    for row in figures.month_days:
        total += row["spend"]
        added.append(total)
    told = figures.pacing
    spent, budget = told["spend_mtd"], told["budget"]
    picture = charts.pace(
        [words.short_day(day) for day in figures.month.days()],
        (words("spent"), added),
        (words("budget"), budget) if budget is not None else None,
        colors,
        words.short,
    )
    headlines = [
        Headline(words("budget"), money(budget)),
        Headline(words("spent"), money(spent), _share(spent, budget, words)),
        Headline(words("expected"), money(told["expected_spend"])),
        Headline(words("projected"), money(told["projected_spend"])),
    ]
    rows = [
        [words.day(row["date"]), amount(row["spend"]), amount(sum_), amount(row["revenue"])]
        for row, sum_ in zip(figures.month_days, added, strict=True)
    ]
    table = Table(words("day_by_day"), _columns(("day", "spend", "spent", "revenue"), figures, words), rows)
    missing = words("foreign_budget" if figures.has_foreign_budget else "no_budget")
    notes = [missing] if budget is None else []
    sheet = ("date", "spend", "revenue", "cash_revenue", "cash_payments", "outcomes")
    return Content(
        headlines,
        [(words("cumulative"), picture)],
        [table],
        [*notes, *_notes(figures, words, compared=False)],
        _sheet(sheet, figures.month_days, _told(figures)),
    )


_FILLERS: dict[str, Callable[[Figures, Words, tuple[str, str]], Content]] = {
    "performance_summary": _performance_summary,
    "creative_review": _creative_review,
    "pacing": _pacing,
}


def _headlines(figures: Figures, words: Words) -> list[Headline]:
    money = _money(figures, words)
    ways: list[tuple[str, Callable[[Any], str], int]] = [
        ("spend", money, 0),
        ("revenue", money, 1),
        ("roas", lambda value: words.number(value, 2), 1),
        ("cac", money, -1),
        ("outcomes", words.number, 1),
        ("coverage_percent", lambda value: words.number(value, 1, unit=" %"), 1),
    ]
    found = []
    for name, write, wanted in ways:
        now, before = figures.current[name], figures.previous[name]
        change, tone = _change(now, before, wanted, words)
        found.append(Headline(words(name), write(now), change, tone))
    return found


def _change(now: float | None, before: float | None, wanted: int, words: Words) -> tuple[str, str]:
    if now is None or not before:
        return "", "plain"
    percent = 100 * (now - before) / abs(before)
    if abs(percent) < 0.05:
        return "±0 %", "plain"
    tone = "plain" if wanted == 0 else "good" if percent * wanted > 0 else "bad"
    sign = "+" if percent > 0 else ""
    return f"{sign}{words.number(percent, 1, unit=' %')}", tone


def _entities(
    name: str, columns: Sequence[str], rows: Sequence[Sequence[str]], figures: Figures, words: Words
) -> Table:
    note = "" if rows else words("no_rows")
    if figures.entities_total > len(rows):
        note = words("shown", str(len(rows)), words.number(figures.entities_total))
    return Table(
        words(name),
        _columns(columns, figures, words),
        rows,
        note,
        [n for n, one in enumerate(columns) if one == "ad_set"],
    )


def _sources(figures: Figures, words: Words) -> Table:
    coverage = figures.current["coverage"]
    parts = [("attributed", coverage["attributed"]), *((row["reason"], row) for row in coverage["by_reason"])]
    amount = _amount(figures, words)
    rows = [
        [words(name), words.number(part["outcomes"]), words.number(part["percent"], 1, unit=" %"),
         words.number(part["cash_payments"]), amount(part["cash_revenue"])]
        for name, part in parts
        if name == "attributed" or part["outcomes"] or part["cash_revenue"]
    ]  # fmt: skip
    columns = _columns(("source", "outcomes", "share", "payments", "cash_revenue"), figures, words)
    return Table(words("where_credit_went"), columns, rows)


def _columns(names: Sequence[str], figures: Figures, words: Words) -> list[str]:
    return [f"{words(name)} ({figures.currency})" if name in AMOUNTS else words(name) for name in names]


def _notes(figures: Figures, words: Words, *, compared: bool = True) -> list[str]:
    notes = [words("compared", words.window(figures.before.date_from, figures.before.date_to))] if compared else []
    notes.append(words("model"))
    if figures.delivery_through is not None:
        notes.append(words("delivery_through", words.day(figures.delivery_through)))
    return notes


def _amount(figures: Figures, words: Words) -> Callable[[float | None], str]:
    return lambda value: words.number(value, figures.digits)


def _money(figures: Figures, words: Words) -> Callable[[float | None], str]:
    def write(value: float | None) -> str:
        number = words.number(value, figures.digits)
        if value is None:
            return number
        return f"{number} {figures.currency}" if words.locale == "es" else f"{figures.currency} {number}"

    return write


def _share(part: float, whole: float | None, words: Words) -> str:
    return words.number(100 * part / whole, 1, unit=" %") if whole else ""


def _told(figures: Figures) -> dict[str, Cell]:
    """What amounts are in, and which model attributed them."""
    return {"currency": figures.currency, "model": MODEL}


def _of_window(figures: Figures) -> dict[str, Cell]:
    """The same of rows that add up a window, with its first and last day."""
    return {**_told(figures), "date_from": figures.window.date_from, "date_to": figures.window.date_to}


def _sheet(
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    told: Mapping[str, Cell],
    *,
    renamed: Mapping[str, str] | None = None,
) -> list[list[Cell]]:
    """A header and the rows; each ends with what is `told` of all, so that a copied row still tells it."""
    header: list[Cell] = [*((renamed or {}).get(name, name) for name in names), *told]
    return [header, *([*(row[name] for name in names), *told.values()] for row in rows)]
