"""Top ads as files for a coding agent. What ads say is other people's text, and stands in them as data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.quoting import quoted
from api.v1.top_performers.across import Leaderboard
from api.v1.top_performers.bundle_texts import BRIEF, README
from api.v1.top_performers.queries import Row
from api.v1.top_performers.terms import SETTLED

# a name that every file system and archive takes as it is, and that leads nowhere else
_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")
_EVIDENCE = (
    "score_window", "composite_score", "maturity_stage", "truth_grade", "primary_outcome_kind", "cohort_n_ads",
    "top_performer_likelihood", "spend", "impressions", "ctr", "cpc", "attributed_cash_outcomes",
    "attributed_revenue", "roas", "cac", "attributed_outcomes_total", "attributed_pipeline_outcomes",
    "attributed_pipeline_value", "platform_reported_conversions", "platform_reported_conversion_value",
    "messaging_conversations_started", "cost_per_conversation", "first_reply_rate", "hazard_30d_degradation",
    "hazard_30d_pause", "fatigue_risk_tier", "expected_lifespan_days",
)  # fmt: skip
_NAMES = (
    "profile_name", "platform", "ad_external_id", "ad_name", "campaign_name", "ad_set_name", "cohort_key", "hook_type",
    "creative_format", "cta_type", "primary_angle", "offers", "creative_thumbnail_url", "video_id",
)  # fmt: skip


@dataclass(frozen=True)
class File:
    """One file of a bundle."""

    path: str
    media_type: str
    content: str


def files(answer: Leaderboard, *, score_window: str, currency: str, locale: str) -> list[File]:
    """README.md, ads.json, and one brief per ad."""
    score_date = answer.score_date and answer.score_date.isoformat()
    of = {"score_window": score_window, "score_date": score_date, "config_version": answer.config_version}
    said = README[locale].format(
        rows=len(answer.rows),
        window=score_window,
        score_date=score_date or "–",
        config_version=answer.config_version or "–",
        currency=currency,
    )
    return [
        File("README.md", "text/markdown", said),
        File("ads.json", "application/json", f"{quoted({**of, 'currency': currency, 'ads': list(answer.rows)})}\n"),
        *_briefs(answer, locale),
    ]


def digest(bundle: Sequence[File]) -> str:
    """SHA-256 of what `sha256sum` prints for the files in their order."""
    lines = (f"{hashlib.sha256(one.content.encode()).hexdigest()}  {one.path}\n" for one in bundle)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _briefs(answer: Leaderboard, locale: str) -> list[File]:
    made: dict[str, File] = {}
    for place, (row, found) in enumerate(zip(answer.rows, answer.ranked, strict=True), start=1):
        path = _path(row, made)
        made[path] = File(path, "text/markdown", _brief(row, found.ad, place, len(answer.rows), locale))
    return list(made.values())


def _path(row: Row, taken: dict[str, File]) -> str:
    name = row["ad_external_id"] if _PLAIN.fullmatch(row["ad_external_id"]) else row["ad_id"]
    # some file systems do not tell capitals from small letters
    clash = f"briefs/{name}.md".lower() in map(str.lower, taken)
    return f"briefs/{row['ad_id'] if clash else name}.md"


def _brief(row: Row, ad: Row, place: int, rows: int, locale: str) -> str:
    words = BRIEF[locale]
    is_settled = row["maturity_stage"] in SETTLED and row["composite_score"] is not None
    reasons = [f"- {words[one['polarity']].format(**one)}" for one in row["reason_codes"]]
    says = {**{name: row[name] for name in _NAMES}, **{name: ad[name] for name in ("title", "body", "landing_host")}}
    return "\n".join(
        [
            f"# {words['title'].format(ad_id=row['ad_id'], place=place, rows=rows)}",
            f"\n{words['settled' if is_settled else 'provisional']}",
            f"\n## {words['why']}\n",
            *(reasons or [words["no_reasons"]]),
            f"\n## {words['evidence']}\n\n{_fenced({name: row[name] for name in _EVIDENCE})}",
            f"\n## {words['says']}\n\n{words['quoted']}\n\n{_fenced(says)}\n",
        ]
    )


def _fenced(value: dict[str, Any]) -> str:
    return f"```json\n{quoted(value)}\n```"
