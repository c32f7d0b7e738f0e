"""Telling subscribers of a new snapshot: that it is there, which catalogues changed with it, and new scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import duckdb
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import transaction
from api.models import Connection, Profile, Recompute, WebhookSubscription
from api.warehouse_ids import uuid_v8
from api.webhooks.emitting import emit, emit_seldom
from orchestration.pointer import Pointer
from touchledger.settings import Settings

_PROFILES = """
select profile_id, data_as_of, delivery_through, settings_version from new.profiles order by profile_id
"""
# by profile and store: what is not in the earlier snapshot as it is in the new one
_PRODUCTS = """
select profiles.profile_id, fresh.connection_ref, count(*), max(fresh.updated_at)
from new.products as fresh
inner join new.profiles as profiles on fresh.profile_key = profiles.profile_key
left join (
    select old_profiles.profile_id, products.connection_ref, products.product_id, products.updated_at, products.status
    from {old}.products as products
    inner join {old}.profiles as old_profiles on products.profile_key = old_profiles.profile_key
    where {compared}
) as stale
    on stale.profile_id = profiles.profile_id
    and stale.connection_ref = fresh.connection_ref
    and stale.product_id = fresh.product_id
    and stale.updated_at = fresh.updated_at
    and stale.status = fresh.status
where stale.product_id is null
group by profiles.profile_id, fresh.connection_ref
order by profiles.profile_id, fresh.connection_ref
"""
_SCORES = """
select profiles.profile_id, max(scores.score_date), max(scores.config_version),
    count(distinct scores.entity_key) filter (where scores.composite_score is not null),
    list_sort(list(distinct scores.score_window))
from {file}.ad_scores as scores
inner join {file}.profiles as profiles on scores.profile_key = profiles.profile_key
group by profiles.profile_id
"""
_LIKELIHOODS = """
select profiles.profile_id, list(distinct likelihoods.status)
from new.ad_likelihoods as likelihoods
inner join new.profiles as profiles on likelihoods.profile_key = profiles.profile_key
where likelihoods.measure = 'top_performer_likelihood'
group by profiles.profile_id
"""


@dataclass(frozen=True)
class News:
    """What a snapshot brought, by profile; rows as the queries give them."""

    profiles: list[tuple[Any, ...]]
    products: list[tuple[Any, ...]]
    scores: list[tuple[Any, ...]]
    likelihoods: Mapping[str, list[str]]


def announce(settings: Settings, published: Pointer, previous: Pointer | None, *, trigger: str) -> int:
    """Tell of a snapshot that is served now; gives how many events somebody listens for.

    `previous` is the snapshot that was served before; its file is read once more, so call it before that is dropped.
    """
    url = settings.operational_url
    with transaction(url) as session:
        if (
            session.scalar(sa.select(WebhookSubscription.id).where(WebhookSubscription.status == "active").limit(1))
            is None
        ):
            return 0
    news = _news(settings, published, previous)
    with transaction(url) as session:
        told = _Told(session, _live(session))
        asked = sa.select(Recompute.profile_id).where(Recompute.snapshot_id == published.snapshot_id)
        recomputed = set(session.scalars(asked))
        for profile_id, *facts in news.profiles:
            cause = "recompute" if profile_id in recomputed else trigger
            told.snapshot(profile_id, facts, published, previous, cause)
        for row in news.products:
            told.catalogue(*row)
        for row in news.scores:
            told.scores(row, news.likelihoods.get(row[0], []))
        return told.count


class _Told:
    def __init__(self, session: Session, workspaces: Mapping[str, str]) -> None:
        self.session, self.workspaces, self.count = session, workspaces, 0

    def snapshot(
        self, profile_id: str, facts: list[Any], published: Pointer, previous: Pointer | None, trigger: str
    ) -> None:
        data_as_of, delivery_through, settings_version = facts
        self._emit(
            "attribution.snapshot.published",
            profile_id,
            {
                "snapshot_id": published.snapshot_id,
                "previous_snapshot_id": previous.snapshot_id if previous else None,
                "data_as_of": _instant(data_as_of),
                "delivery_through": _day(delivery_through),
                "settings_version": settings_version,
                "trigger": trigger,
                # late events, revisions and merged people may move any day
                "changed_from": None,
            },
        )

    def catalogue(self, profile_id: str, store: str, changed: int, newest: datetime) -> None:
        if profile_id not in self.workspaces:
            return
        chosen = sa.select(Connection.id).where(
            Connection.profile_id == profile_id, Connection.kind == "store", Connection.external_account_id == store
        )
        newest_first = chosen.order_by(Connection.created_at.desc(), Connection.id.desc())
        number = self.session.scalars(newest_first).first() or uuid_v8(profile_id, "connection", store)
        data = {
            "connection_id": number,
            "shop": store,
            "products_changed": changed,
            "newest_updated_at": _instant(newest),
        }
        workspace_id = self.workspaces[profile_id]
        about = {"workspace_id": workspace_id, "profile_id": profile_id, "subject": number}
        self.count += emit_seldom(self.session, "catalog.updated", data, **about) is not None

    def scores(self, row: tuple[Any, ...], statuses: list[str]) -> None:
        profile_id, score_date, config_version, ads, windows = row
        likelihood = next((one for one in ("served", "withheld") if one in statuses), "not_applicable")
        data = {"score_date": _day(score_date), "config_version": config_version, "windows": windows}
        self._emit("top_performers.updated", profile_id, {**data, "ads_scored": ads, "likelihood_status": likelihood})

    def _emit(self, kind: str, profile_id: str, data: dict[str, Any]) -> None:
        if profile_id in self.workspaces:
            workspace_id = self.workspaces[profile_id]
            event = emit(self.session, kind, data, workspace_id=workspace_id, profile_id=profile_id)
            self.count += event is not None


def _live(session: Session) -> dict[str, str]:
    live = sa.select(Profile.id, Profile.workspace_id).where(Profile.archived_at.is_(None))
    return {row.id: row.workspace_id for row in session.execute(live)}


def _news(settings: Settings, published: Pointer, previous: Pointer | None) -> News:
    with duckdb.connect() as connection:
        _attach(connection, settings, published, "new")
        is_known = previous is not None and (settings.published / previous.file).exists()
        if previous is not None and is_known:
            _attach(connection, settings, previous, "old")
        # without an earlier one all is new
        old = "old" if is_known else "new"
        scores = connection.execute(_SCORES.format(file="new")).fetchall()
        before = _rows(connection, _SCORES.format(file=old)) if is_known else []
        known = {row[0]: row[1:3] for row in before}
        return News(
            connection.execute(_PROFILES).fetchall(),
            _rows(connection, _PRODUCTS.format(old=old, compared="true" if old != "new" else "false")),
            [row for row in scores if known.get(row[0]) != row[1:3]],
            dict(connection.execute(_LIKELIHOODS).fetchall()),
        )


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(sql).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):
        # an earlier release's snapshot has other tables or columns
        return []


def _attach(connection: duckdb.DuckDBPyConnection, settings: Settings, pointer: Pointer, name: str) -> None:
    path = str(settings.published / pointer.file).replace("'", "''")
    connection.execute(f"attach '{path}' as {name} (read_only)")


def _instant(at: datetime | None) -> str | None:
    return at.replace(tzinfo=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
