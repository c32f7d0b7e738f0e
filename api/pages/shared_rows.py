"""From frozen rows to what their page shows: words of one language, and no figure that was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.models import SharedSnapshot
from api.reports.labels import ABSENT, Words
from api.v1.top_performers.terms import LIKELIHOOD, SETTLED, TIER
from data_contracts.formats import currency_digits

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Reason:
    """One layer in which an ad stands out."""

    polarity: str
    layer: str
    percentile: int
    explained: str


@dataclass(frozen=True)
class Ad:
    """One line of the ranking, in words; `score` is behind `shown_score`, `profile` is empty on a page of one."""

    name: str
    profile: str
    campaign: str
    tags: Sequence[str]
    score: float | None
    shown_score: str
    stage: str
    is_settled: bool
    grade: str
    result: str
    result_note: str
    spend: str
    roas: str
    outlook: Sequence[str]
    reasons: Sequence[Reason]


@dataclass(frozen=True)
class Content:
    """The whole page."""

    ads: Sequence[Ad]
    settled: int
    provisional: int


def told(row: SharedSnapshot, words: Words) -> Content:
    """What the page of this snapshot shows."""
    many_profiles = len({one["profile_id"] for one in row.rows}) > 1
    ads = [_ad(one, row.currency, words, named=many_profiles) for one in row.rows]
    settled = sum(ad.is_settled for ad in ads)
    return Content(ads, settled, len(ads) - settled)


def _ad(row: Row, currency: str, words: Words, *, named: bool) -> Ad:
    result, note = _result(row, currency, words)
    return Ad(
        name=row["ad_name"] or words("nameless", row["ad_external_id"]),
        profile=row["profile_name"] if named else "",
        campaign=row["campaign_name"] or "",
        tags=[_plain(row["platform"]), _plain(row["creative_format"] or row["cohort_format"])],
        score=row["composite_score"],
        shown_score=words.number(row["composite_score"], 1),
        stage=words(f"stage_{row['maturity_stage']}"),
        is_settled=row["maturity_stage"] in SETTLED and row["composite_score"] is not None,
        grade=words(f"grade_{row['truth_grade']}"),
        result=result,
        result_note=note,
        spend=_money(row["spend"], currency, words),
        roas=words.number(row["roas"], 2),
        outlook=_outlook(row, words),
        reasons=[_reason(one, words) for one in row["reason_codes"]],
    )


def _result(row: Row, currency: str, words: Words) -> tuple[str, str]:
    """The outcome that the row itself says to headline, and what is to be said beside it."""
    kind = row["primary_outcome_kind"]
    if kind == "cash":
        return _counted("payments", row["attributed_cash_outcomes"], words), _noted(
            "cash_note", row["attributed_revenue"], currency, words
        )
    if kind == "pipeline":
        return _counted("pipeline", row["attributed_pipeline_outcomes"], words), _noted(
            "pipeline_note", row["attributed_pipeline_value"] or None, currency, words
        )
    if kind == "messaging":
        started = row["messaging_conversations_started"] or row["attributed_outcomes_total"]
        return _counted("conversations", started, words), _noted(
            "conversations_note", row["cost_per_conversation"], currency, words
        )
    if kind == "platform":
        return _counted("claimed", row["platform_reported_conversions"], words), words("claimed_note")
    return words("no_outcome"), ""


def _counted(name: str, count: float, words: Words) -> str:
    return words(f"{name}_1") if count == 1 else words(name, words.number(count, 0 if count == int(count) else 1))


def _noted(name: str, amount: float | None, currency: str, words: Words) -> str:
    return "" if amount is None else words(name, _money(amount, currency, words))


def _outlook(row: Row, words: Words) -> list[str]:
    chance, tier = row[LIKELIHOOD], row[TIER]
    found = []
    if chance["status"] == "served":
        found.append(words("chance", words.number(100 * chance["value"], 0, unit="\N{NO-BREAK SPACE}%")))
    if tier["status"] == "served":
        found.append(words(f"wear_{tier['value']}"))
    return found


def _reason(one: Row, words: Words) -> Reason:
    explained = f"{words('percentile', str(one['percentile']))}, {words('confidence_' + one['sample_confidence'])}"
    return Reason(one["polarity"], words(f"layer_{one['layer']}"), one["percentile"], explained)


def _money(amount: float | None, currency: str, words: Words) -> str:
    if amount is None:
        return ABSENT
    number = words.number(amount, currency_digits()[currency])
    return f"{number} {currency}" if words.locale == "es" else f"{currency} {number}"


def _plain(token: str) -> str:
    return token.replace("_", " ")
