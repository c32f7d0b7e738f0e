"""Who did something, as lists tell it: a name for others to read, and never an address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import marshmallow as ma
import sqlalchemy as sa
from marshmallow import fields
from sqlalchemy.orm import Session

from api.models import ApiKey, App, User

KINDS = ("session", "user_token", "api_key", "app", "system")


class ActorShape(ma.Schema):
    """{kind, id, display}: the person's, key's or app's name."""

    kind = fields.String(
        required=True,
        metadata={"enum": list(KINDS), "description": "What it was done with; system is the service itself."},
    )
    id = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The person of a session or user token, else the key or app; null for the service itself."
        },
    )
    display = fields.String(
        required=True,
        metadata={
            "description": "Name of the person, key or app; `A member` of who gave none, `Touchledger` of the service."
        },
    )


def told(session: Session, named: Iterable[tuple[str, str | None]]) -> dict[tuple[str, str | None], dict[str, Any]]:
    """The shapes of many (kind, id) at once; people go by their user id, keys by the key's, apps by the app's."""
    wanted = set(named)
    ids: dict[str, list[str]] = {"user": [], "key": [], "app": []}
    for kind, one in wanted:
        if one and kind in _GROUPS:
            ids[_GROUPS[kind]].append(one)
    names: dict[str, str] = {}
    if ids["user"]:
        for user in session.scalars(sa.select(User).where(User.id.in_(ids["user"]))):
            names[user.id] = user.display_name
    if ids["key"]:
        named_keys = session.execute(sa.select(ApiKey.id, ApiKey.name).where(ApiKey.id.in_(ids["key"])))
        names |= {row.id: row.name for row in named_keys}
    if ids["app"]:
        named_apps = session.execute(sa.select(App.id, App.name).where(App.id.in_(ids["app"])))
        names |= {row.id: row.name for row in named_apps}
    return {who: {"kind": who[0], "id": who[1], "display": names.get(who[1] or "", "Touchledger")} for who in wanted}


_GROUPS = {"session": "user", "user_token": "user", "api_key": "key", "app": "app"}
