"""Which dataset is fed: the one an account always had, or a clean one that knows nothing of before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.db import now
from api.exports import destinations
from api.models import Connection, DatasetTarget, ExportDestination, Profile
from api.models.connection import UNFINISHED
from connectors.errors import ConnectorError, Revoked
from connectors.meta_datasets import MetaDatasets

DATASETS = ("website", "chatapp", "social")
TARGETS = ("clean", "existing")
_MISSING = {"chatapp": errors.CHATAPP_CONNECTION_REQUIRED, "social": errors.SOCIAL_CONNECTION_REQUIRED}


@dataclass(frozen=True, slots=True)
class Standing:
    """Which dataset is fed now, as far as this database knows; `existing_id` is None before anybody asked."""

    target: str
    existing_id: str | None
    clean_id: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the platform gave. `live_ad_sets` deliver on the dataset that is left; None where that cannot be read."""

    existing_id: str
    clean_id: str | None
    live_ad_sets: int | None


def connection_for(session: Session, profile: Profile, dataset: str, connection_id: str | None) -> Connection:
    """The connection whose account has the dataset; 409 where the profile has none, 404 for a stranger's."""
    chosen = sa.select(Connection).where(Connection.profile_id == profile.id, Connection.status != "disconnected")
    mine = list(session.scalars(chosen.order_by(Connection.created_at, Connection.id)))
    if connection_id is not None:
        mine = [one for one in mine if one.id == connection_id]
        if not mine:
            raise errors.NOT_FOUND("The profile has no such connection.")
    else:
        # who began to connect another account and never finished has one account all the same
        mine = [one for one in mine if one.status not in UNFINISHED] or mine
    if dataset == "website":
        return _of_website(session, profile, [one for one in mine if one.provider == "meta"])
    found = next((one for one in mine if one.provider == dataset), None)
    if found is None:
        raise _MISSING[dataset]()
    if dataset == "social" and found.login_kind != "page_linked":
        raise errors.SOCIAL_PAGE_LOGIN_REQUIRED()
    return found


def standing(session: Session, profile_id: str, dataset: str, connection: Connection) -> Standing:
    """What is fed now; a destination tells the existing dataset before anything was switched."""
    row = session.get(DatasetTarget, (profile_id, dataset))
    if row is not None and row.connection_id == connection.id:
        return Standing(row.target, row.existing_id, row.clean_id)
    fed = destinations.live(profile_id).where(ExportDestination.connection_id == connection.id)
    first = session.scalars(fed.order_by(ExportDestination.is_enabled.desc(), ExportDestination.id)).first()
    return Standing("existing", first.target if first and dataset == "website" else None, None)


def ask(platform: MetaDatasets, name: str, dataset: str, before: Standing, to: str) -> Answer:
    """Find the datasets, count who delivers on the other, and make the clean one if it is wanted and was never made."""
    of_messaging = dataset != "website"
    existing = before.existing_id or next(iter(platform.datasets(of_messaging=of_messaging)), None)
    if existing is None:
        raise errors.PLATFORM_CONNECTION_REQUIRED("The connected account has no dataset yet.")
    clean = before.clean_id
    left = existing if to == "clean" else clean
    live = _live(platform, left, of_messaging) if left else 0
    # last of all: it takes a slot for good, and a failure after it would forget it
    if to == "clean" and clean is None:
        clean = platform.make_dataset(f"{name} (clean)", of_messaging=of_messaging)
    return Answer(existing, clean, live)


def put(session: Session, profile_id: str, dataset: str, connection: Connection, to: str, answer: Answer) -> int:
    """Feed the dataset from now on; gives how many destinations were turned to it."""
    if answer.clean_id is None:
        return 0
    kept = DatasetTarget(profile_id=profile_id, dataset=dataset, target=to, connection_id=connection.id)
    kept.existing_id, kept.clean_id, kept.updated_at = answer.existing_id, answer.clean_id, now()
    session.merge(kept)
    ids = {"clean": answer.clean_id, "existing": answer.existing_id}
    left, fed = ids["existing" if to == "clean" else "clean"], ids[to]
    turned = _turn(session, profile_id, connection, left, fed) if dataset == "website" else 0
    session.flush()
    return turned


def _turn(session: Session, profile_id: str, connection: Connection, left: str, fed: str) -> int:
    of_connection = destinations.live(profile_id).where(
        ExportDestination.kind == "meta_capi", ExportDestination.connection_id == connection.id
    )
    found = session.scalars(of_connection.with_for_update()).all()
    if any(one.target == fed for one in found):
        return 0
    moved = [one for one in found if one.target == left]
    for one in moved:
        one.target, one.matched_snapshot_id, one.updated_at = fed, None, now()
    return len(moved)


def _of_website(session: Session, profile: Profile, accounts: Sequence[Connection]) -> Connection:
    named = destinations.live(profile.id).where(ExportDestination.is_enabled, ExportDestination.kind == "meta_capi")
    ids = list(session.scalars(named.order_by(ExportDestination.id).with_only_columns(ExportDestination.connection_id)))
    by_id = {one.id: one for one in accounts}
    first = next((by_id[one] for one in ids if one in by_id), None)
    if first is None and len(accounts) > 1:
        raise errors.PLATFORM_CONNECTION_REQUIRED(
            "The profile has several ad accounts and no enabled destination names one; say which by connection_id."
        )
    if first is None and not accounts:
        raise errors.PLATFORM_CONNECTION_REQUIRED()
    return first or accounts[0]


def _live(platform: MetaDatasets, dataset_id: str, of_messaging: bool) -> int | None:
    if of_messaging:
        # the ad account whose ad sets open conversations is another connection's
        return None
    try:
        return len(platform.live_ad_sets(dataset_id))
    except Revoked:
        raise
    except ConnectorError:
        return None
