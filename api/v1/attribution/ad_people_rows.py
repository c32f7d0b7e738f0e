"""From counts to the ad-people result: dense months and days, ranked ads, every origin named in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from api.reading import Source
from api.served import ORIGINS
from api.v1.attribution import ad_people_queries as queries
from api.v1.attribution.ad_people_queries import NOBODY, Asked, Count
from api.v1.attribution.kept_cells import ALL

_WORDS = {
    "partner_ad_referral": (
        "Handed over by a partner",
        "Entregado por un socio",
        "Earlier ad referrals a partner supplied for chats not seen live",
    ),
    "conversation_referral": (
        "Chat opened from an ad",
        "Chat abierto desde un anuncio",
        "A chat that arrived with the platform's own ad reference",
    ),
    "web": (
        "Website visit from an ad",
        "Visita web desde un anuncio",
        "A tracked visit whose link named the ad",
    ),
    "other": (
        "Other ad touch",
        "Otro contacto con un anuncio",
        "CRM ad parameters, store journeys and inherited touches",
    ),
}
LABELS = {origin: dict(zip(("label_en", "label_es", "description"), words, strict=True))
          for origin, words in _WORDS.items()}  # fmt: skip

Counts = dict[str, Count]


def result(source: Source | None, asked: Asked, *, limit: int, timezone: str) -> dict[str, Any]:
    """The whole `data` object; without a source, that of a profile that nobody was ever counted for."""
    told = _told(source, asked, limit) if source else _told_of_nothing(asked)
    return {
        "date_from": asked.window.date_from,
        "date_to": asked.window.date_to,
        "group_by": asked.group_by,
        "channel": asked.channel,
        "first_only": asked.first_only,
        "timezone": source.profile.time_zone if source else timezone,
        **told,
        "origin_labels": LABELS,
    }


def _told(source: Source, asked: Asked, limit: int) -> dict[str, Any]:
    times = queries.by_time(source.reader, source.profile, asked)
    started = queries.conversations(source.reader, source.profile, asked)
    totals = _figures(times.totals, sum(started.values()) if started else None)
    if asked.group_by == "ad":
        return {"totals": totals, **_ads(source, asked, limit)}
    return {"totals": totals, **_dense(_time_buckets(asked, times, started))}


def _told_of_nothing(asked: Asked) -> dict[str, Any]:
    buckets = [] if asked.group_by == "ad" else _time_buckets(asked, queries.Times({}, {}), {})
    return {"totals": _figures({}, None), **_dense(buckets)}


def _dense(buckets: Iterable[dict[str, Any]]) -> dict[str, Any]:
    made = list(buckets)
    return {"buckets": made, "buckets_total": len(made), "buckets_truncated": False}


def _time_buckets(asked: Asked, times: queries.Times, started: dict[date, int]) -> Iterator[dict[str, Any]]:
    length = 7 if asked.group_by == "month" else 10
    for bucket in asked.buckets:
        start = bucket.date_from
        place = {
            "key": start.isoformat()[:length],
            "start": start,
            "end": bucket.date_to,
            "ad_id": None,
            "ad_name": None,
        }
        yield {**place, **_figures(times.buckets.get(start, {}), started.get(start))}


def _ads(source: Source, asked: Asked, limit: int) -> dict[str, Any]:
    best, total = queries.best_ads(source.reader, source.profile, asked, most=limit)
    synced = [ad.entity_key for ad in best if ad.entity_key is not None]
    started = queries.conversations_of_ads(source.reader, source.profile, asked, synced) if synced else {}
    buckets = [
        {
            "key": ad.ad_id,
            "start": asked.window.date_from,
            "end": asked.window.date_to,
            "ad_id": ad.ad_id,
            "ad_name": ad.ad_name,
            **_figures(ad.counts, None if ad.entity_key is None else started.get(ad.entity_key)),
        }
        for ad in best
    ]
    return {"buckets": buckets, "buckets_total": total, "buckets_truncated": total > len(buckets)}


def _figures(counts: Counts, started: int | None) -> dict[str, Any]:
    everyone = counts.get(ALL, NOBODY)
    return {
        "ad_people": everyone.people,
        "ad_touches": everyone.touches,
        "by_origin": {
            origin: {"people": people, "touches": touches}
            for origin in ORIGINS
            for people, touches in [counts.get(origin, NOBODY)]
        },
        "platform_messaging_conversations_started": started,
    }
