"""GET /declared-sources: what people said brought them, beside all credit and never part of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import Schema, fields

from api import context, responses
from api.envelopes import Meta
from api.guard import guarded
from api.http import Blueprint
from api.money import amount
from api.reading import published
from api.scopes import Scope
from api.served import ProfileFacts, Reader
from api.windows import DateRange, DateRangeQuery

bp = Blueprint("declared_sources", __name__, description="What people said brought them.")

OTHER = "other"
# English and Spanish of the vocabulary of POST /events
LABELS: Mapping[str, tuple[str, str]] = {
    "social_ad": ("Ad on social media", "Anuncio en redes sociales"),
    "search_ad": ("Ad in a search engine", "Anuncio en un buscador"),
    "video_ad": ("Video ad", "Anuncio en vídeo"),
    "other_ad": ("Another ad", "Otro anuncio"),
    "search_engine": ("Search engine", "Buscador"),
    "social_post": ("Post on social media", "Publicación en redes sociales"),
    "influencer": ("Influencer", "Influencer"),
    "friend": ("Friend or family", "Amigos o familia"),
    "chat": ("Chat", "Chat"),
    "email": ("E-mail", "Correo electrónico"),
    "press": ("Press", "Prensa"),
    "podcast": ("Podcast", "Pódcast"),
    "tv_radio": ("Television or radio", "Televisión o radio"),
    "outdoor": ("Poster or billboard", "Cartel o valla"),
    "event": ("Event", "Evento"),
    "walk_in": ("Walked by", "Pasaba por aquí"),
    "returning": ("Was a customer before", "Ya era cliente"),
    OTHER: ("Something else", "Otra respuesta"),
}

_DECLARED = """
select answer_key, sum(answers) as answers, sum(conversions) as conversions, sum(cash_minor) as cash_minor
from declared_sources
where profile_key = $profile_key and day between $date_from and $date_to
group by answer_key
"""


class DeclaredMeta(Meta):
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)


class DeclaredRow(Schema):
    meta_schema = DeclaredMeta

    answer_key = fields.String(
        required=True,
        metadata={
            "enum": list(LABELS),
            "description": "What they said, of the words of POST /events; other for any else.",
        },
    )
    label_en = fields.String(required=True, metadata={"description": "The answer for people, in English."})
    label_es = fields.String(required=True, metadata={"description": "The answer for people, in Spanish."})
    answers = fields.Integer(required=True, metadata={"description": "Answers given in the window."})
    conversions = fields.Integer(
        required=True, metadata={"description": "Conversions of the window whose people said so, of every kind."}
    )
    cash_revenue = fields.Float(required=True, metadata={"description": "Their net cash; never added to credit."})


@bp.route("/declared-sources")
@guarded(scope=Scope.ANALYTICS_READ)
@bp.arguments(DateRangeQuery, location="query")
@responses.tagged
@bp.response(200, DeclaredRow(many=True))
def declared_sources(window: DateRange) -> list[dict[str, Any]]:
    """What people said brought them, most answers first

    A second witness beside attribution. A conversion counts under the answer that came with it, else under the first
    answer its person ever gave. Answers outside the vocabulary, which files may bring, count as `other`.
    """
    with published("/declared-sources", {"window": window}) as source:
        context.meta(date_from=window.date_from, date_to=window.date_to)
        if source is None:
            return []
        return rows(_found(source.reader, source.profile, window), source.profile.digits)


def rows(found: Iterable[tuple[str, int, int, int]], digits: int) -> list[dict[str, Any]]:
    """Rows of the vocabulary from sums by answer (answers, conversions, minor units of cash)."""
    sums: dict[str, list[int]] = {}
    for key, *counts in found:
        known = sums.setdefault(key if key in LABELS else OTHER, [0, 0, 0])
        known[:] = [have + more for have, more in zip(known, counts, strict=True)]
    ordered = sorted(sums.items(), key=lambda one: (-one[1][0], -one[1][2], one[0]))
    return [
        {
            "answer_key": key,
            "label_en": LABELS[key][0],
            "label_es": LABELS[key][1],
            "answers": answers,
            "conversions": conversions,
            "cash_revenue": amount(cash, digits),
        }
        for key, (answers, conversions, cash) in ordered
    ]


def _found(reader: Reader, profile: ProfileFacts, window: DateRange) -> list[tuple[Any, ...]]:
    dates = {"date_from": window.date_from, "date_to": window.date_to}
    return reader.rows(_DECLARED, {"profile_key": profile.profile_key, **dates})
