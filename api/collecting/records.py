"""What an event becomes: records of the public inbound sets, as a file could bring them too."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson

from api import click_ids
from api.collecting.channels import channel_of
from api.collecting.event import Told
from api.collecting.page import Parameters, is_same_site
from api.goals import Goal, kept_type
from api.personal_names import personal_names

Record = dict[str, Any]


def arrival(event: Told) -> Parameters:
    """What the visit came with: what the landing page's address says, else what the tracker remembers of it."""
    of_page = event.page.parameters
    if of_page:
        return of_page
    return Parameters(utm=event.utm, click_ids={name: one for name, one in event.click_ids.items() if name != "fbc"})


def outside(event: Told) -> str | None:
    """The host that the visit came from; None for the page's own."""
    is_own = event.referrer is not None and is_same_site(event.referrer, event.page.host)
    return None if is_own else event.referrer


def is_return(event: Told) -> bool:
    """Whether a visit without parameters goes on where the site itself led: that is no arrival."""
    return not arrival(event) and event.referrer is not None and outside(event) is None


def touch(event: Told, *, visit: str, occasion: str, consent: bool | None) -> Record:
    """The visit that the event opens.

    Its key is that of its parameters within the visit: of pages and reloads with the same there is one. `occasion`
    tells visits without any apart.
    """
    parameters, referrer = arrival(event), outside(event)
    if event.page.parameters:
        occasion = _digest([parameters.ad, parameters.utm, parameters.click_ids])
    # the cookie outlives its click: it dates this visit only where the visit came from that click
    cookie = {"fbc": event.click_ids["fbc"]} if "fbclid" in parameters.click_ids and "fbc" in event.click_ids else {}
    kind, value, clicked_at = click_ids.chosen({**parameters.click_ids, **cookie}, event.occurred_at)
    return _given(
        touch_key=f"web:{_digest([visit, occasion])}",
        occurred_at=(clicked_at or event.occurred_at).isoformat(),
        anonymous_id=event.anonymous_id,
        channel="web",
        origin="web",
        **parameters.ad,
        is_direct=not parameters and referrer is None,
        click_id_type=kind,
        click_id=value,
        **{f"utm_{name}": label for name, label in parameters.utm.items()},
        referrer_host=referrer,
        landing_host=event.page.host,
        session_id=event.session_id,
        consent_marketing=consent,
    )


def conversion(event: Told, goal: Goal) -> Record:
    """The outcome that the event is. The caller has seen to it that no goal of cash comes here."""
    # of click ids only Meta's cookie tells its time; one without would be dated anew by each outcome it comes with
    cookie = {"fbc": event.click_ids["fbc"]} if "fbc" in event.click_ids else {}
    kind, value, clicked_at = click_ids.chosen(cookie, event.occurred_at)
    click = {"click_id_type": kind, "click_id": value, "touch_at": clicked_at.isoformat()} if clicked_at else {}
    return _given(
        conversion_key=f"web:{event.event_id}",
        occurred_at=event.occurred_at.isoformat(),
        anonymous_id=event.anonymous_id,
        **dict(reversed(event.known)),
        conversion_type=kept_type(goal),
        event_name=event.name,
        event_origin="browser",
        value=None if event.value is None else str(event.value),
        currency=event.currency,
        order_ref=event.order_ref,
        **click,
        source="tracker",
        **{f"x_{name}": told for name, told in event.names.items()},
    )


def identities(
    anonymous_id: str, known: Iterable[tuple[str, str]], at: datetime, *, typed: bool = False
) -> list[Record]:
    """Statements that a browser is of whoever has these identifiers, each a kind and a value in normal form."""
    return [
        {
            "kind_a": "anonymous_id",
            "value_a": anonymous_id,
            "kind_b": kind,
            "value_b": value,
            "observed_at": at.isoformat(),
            "confidence": "typed" if typed else "certain",
        }
        for kind, value in known
    ]


def names(event: Told) -> list[Record]:
    """What the event calls its person, whom it may know by the browser alone; none where it tells no name."""
    who = {"anonymous_id": event.anonymous_id, **dict(reversed(event.known))}
    at = event.occurred_at.isoformat()
    return personal_names(key=f"web:{event.event_id}", at=at, origin="browser", who=who, names=event.names)


def page_event(event: Told, profile_id: str, *, opens_visit: bool, told: Mapping[str, Any]) -> Record:
    """The record of the internal set page_events; `told` are columns that the event itself does not tell."""
    parameters = arrival(event)
    return _given(
        event_id=event.event_id,
        profile_id=profile_id,
        event_name=event.name,
        occurred_at=event.occurred_at.isoformat(),
        received_at=event.received_at.isoformat(),
        anonymous_id=event.anonymous_id,
        session_id=event.session_id,
        opens_visit=opens_visit,
        page_host=event.page.host,
        referrer_host=event.referrer,
        **{f"utm_{name}": parameters.utm.get(name) for name in ("source", "medium", "campaign")},
        channel=channel_of(parameters, outside(event)) if opens_visit else None,
        **told,
        x_raw=event.raw or None,
    )


def _given(**columns: Any) -> Record:
    return {name: value for name, value in columns.items() if value is not None}


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
