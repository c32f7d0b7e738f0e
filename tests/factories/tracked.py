"""What a page's tracker sends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import credentials, db, tracking_keys
from api.models import IngestedRecord, Profile, TrackingKey

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE_AGENT = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36"
SHOP = "https://shop.example/landing"
UNKNOWN_KEY = credentials.mint("trk_live")


def key(url: str, profile: Profile, **changes: Any) -> str:
    """A new tracking key of the profile."""
    with db.transaction(url) as session:
        made = tracking_keys.mint(session, profile.id)
        session.execute(sa.update(TrackingKey).where(TrackingKey.id == made.id).values(**changes)) if changes else None
        return made.key


def event(tracking_key: str, **changes: Any) -> dict[str, Any]:
    """One page view of a visit that begins; `ago` in seconds says how long before now it was."""
    ago = timedelta(seconds=changes.pop("ago", 0))
    body = {
        "trackingKey": tracking_key,
        "eventId": db.new_id(),
        "eventName": "page_view",
        "eventTimeClient": (db.now() - ago).isoformat(),
        "anonymousId": "browser-1",
        "sessionId": "session-1",
        "pageUrl": SHOP,
    }
    return {name: value for name, value in {**body, **changes}.items() if value is not None}


def send(
    client: FlaskClient, body: Any, path: str = "collect", *, headers: dict[str, str] | None = None, **options: Any
) -> TestResponse:
    """Send it as a browser does."""
    sent = {"User-Agent": AGENT, **(headers or {})}
    return client.post(f"/api/tracking/{path}", json=body, headers=sent, **options)


def records(url: str, profile: Profile, dataset: str) -> list[dict[str, Any]]:
    """What became of it, in the order it came."""
    kept = sa.select(IngestedRecord.record).where(
        IngestedRecord.profile_id == profile.id, IngestedRecord.dataset == dataset
    )
    with db.transaction(url) as session:
        return list(session.scalars(kept.order_by(IngestedRecord.id)))
