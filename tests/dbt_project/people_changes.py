"""People known by records of every kind, and a second landing that changes what is known of each in its own way."""

from __future__ import annotations

from typing import Any

from tests.dbt_project.project import Project

Record = dict[str, Any]
PROFILE = "people"
CLICK = {"click_id": "X", "click_id_type": "fbclid"}


def _touch(key: str, month: int, **columns: Any) -> Record:
    told = {"touch_key": key, "occurred_at": f"2026-0{month}-01T12:00:00Z", "channel": "web", "origin": "web"}
    return {**told, "person_key": key.split()[0], **columns}


def _lead(person: str, month: int) -> Record:
    lead = {"conversion_key": f"{person} {month}", "occurred_at": f"2026-0{month}-02T12:00:00Z"}
    return {**lead, "conversion_type": "lead_created", "person_key": person}


def _buyer(ref: str, month: int) -> Record:
    """Somebody without a name, who is a customer for the outcome's sake alone."""
    return {**_lead(ref, month), "person_key": None, "anonymous_id": ref}


def _browses(ref: str, month: int) -> Record:
    return {**_touch(ref, month), "person_key": None, "anonymous_id": ref}


def _seen(key: str, at: str, **columns: Any) -> Record:
    return {**_touch(key, 3, **columns), "touch_key": f"{key} {at}", "occurred_at": f"2026-{at}:00Z"}


def _clicked(person: str, month: int) -> Record:
    return _touch(f"{person} {month}", month, **{**CLICK, "click_id": f"click {month}"})


def _order(ref: str, month: int) -> Record:
    order = {"connection_ref": "shop", "order_id": ref, "order_ref": ref, "created_at": f"2026-0{month}-03T12:00:00Z"}
    paid = {"updated_at": "2026-05-01T00:00:00Z", "financial_status": "paid", "currency": "USD", "total": "9.00"}
    return {**order, **paid, "email": f"{ref}@example.com"}


def _page(at: str, **columns: Any) -> Record:
    seen = {"event_id": at, "profile_id": PROFILE, "event_name": "page_view", "anonymous_id": "browser"}
    when = {"occurred_at": f"2026-03-01T{at}:00Z", "received_at": f"2026-03-01T{at}:01Z"}
    return {**seen, **when, "session_id": "s", "opens_visit": at == "10:00", **columns}


def _at_kiosk(key: str, month: int, **columns: Any) -> Record:
    return {**_touch(f"kiosk {key}", month, **columns), "person_key": None, "anonymous_id": "kiosk"}


def _referral(ref: str) -> Record:
    told = {"referral_id": ref, "conversation_id": ref, "channel": "chatapp", "occurred_at": "2026-03-01T10:00:00Z"}
    return {**told, "ad_platform": "meta", "ad_id": "7", "person_key": ref, "seen_live": True}


def _person(key: str, **columns: Any) -> Record:
    return {"person_key": key, "email": f"{key}@example.com", "marketing_consent": True, **columns}


def _name(key: str, day: int, **columns: Any) -> Record:
    told = {"name_key": f"{key} {day}", "told_at": f"2026-03-0{day}T12:00:00Z", "event_origin": "server"}
    return {**told, "email": f"{key}@example.com", **columns}


def land(project: Project) -> None:
    """The history."""
    told = {
        "touches": [
            _touch("loses 2", 3),
            _touch("gains", 3),
            _touch("reads", 3, anonymous_id="browser", email="reads@example.com"),
            *(_browses(ref, month) for ref in ("becomes", "was") for month in (2, 3)),
            _seen("clicks", "03-01T10:00", **CLICK, ad_id="7"),
            # a page that is no page of its session, for it only repeats a click
            _seen("turns", "03-01T10:00", **CLICK, ad_id="7"),
            _seen("turns", "03-01T10:05", **CLICK, ad_id="8", session_id="s"),
            _seen("sits", "03-01T10:00", ad_id="7", session_id="s"),
            _seen("waits", "03-01T10:00", ad_id="7"),
            _seen("chats", "03-01T10:20", ad_id="7"),
            # whose clicks and yes are nobody's as soon as the device is
            _at_kiosk("alone", 2, email="alone@example.com", consent_marketing=False),
            _at_kiosk("nameless", 3, **CLICK, consent_marketing=True),
            *(_touch(person, 3) for person in ("carries", "told", "untold", "cookie")),
            *(_seen(person, "03-20T12:00", **CLICK, ad_id="7") for person in ("told", "untold")),
            # conversions go with the newest click before them, which a later landing may bring
            *(_clicked("between", month) for month in (1, 3, 5)),
        ],
        "conversions": [
            _lead("asks", 3),
            *(_lead("between", month) for month in (2, 4)),
            {**_buyer("kiosk", 3), **CLICK, "click_id": "Y"},
            # its visit comes later than it does, and was before it
            {**_lead("cookie", 4), **CLICK, "touch_at": "2026-03-20T12:00:00Z"},
        ],
        "orders": [_order("buys", 3)],
        "ad_referrals": [_referral("stays"), _referral("leaves")],
        "people": [_person("named", first_name="An"), _person("agrees"), _person("moves")],
        "page_events": [_page("10:00"), _page("11:00")],
        "personal_names": [
            *(_name("agrees", day, first_name=f"Gus {day}") for day in (1, 2)),
            _name("moves", 1, first_name="Mo"),
            _name("was", 1, email=None, anonymous_id="was", first_name="Wes"),
        ],
    }
    for dataset, rows in told.items():
        project.land(dataset, rows, profile_id=PROFILE)
    project.land("touches", [_touch("loses 1", 2)], profile_id=PROFILE, batch="goes")
    gone = [_lead("asks", 2), _buyer("was", 2), {**_lead("untold", 3), **CLICK}]
    project.land("conversions", gone, profile_id=PROFILE, batch="goes")


def change(project: Project) -> None:
    """One change of every kind."""
    for dataset in ("touches", "conversions"):
        project.land(dataset, [], profile_id=PROFILE, batch="goes")
    # of a touch that is new in two versions, only the newer one has a person
    project.land("touches", [_touch("gains 2", 2), _touch("new", 4)], profile_id=PROFILE, batch="later")
    project.land("conversions", [_buyer("becomes", 4)], profile_id=PROFILE, batch="later")
    dated = {"carries": "2026-03-20T12:00:00Z", "told": "2026-03-10T12:00:00Z"}
    carried = [{**_lead(person, 4), **CLICK, "touch_at": at} for person, at in dated.items()]
    project.land("conversions", carried, profile_id=PROFILE, batch="carries")
    again = [
        _seen("clicks", "03-09T10:00", **CLICK, ad_id="8"),
        _seen("turns", "03-09T10:00", ad_id="8", session_id="s"),
        _seen("sits", "03-09T10:00", ad_id="7", session_id="s"),
        _seen("waits", "03-01T10:29", ad_id="7"),
        _seen("cookie", "03-20T12:10", **CLICK, ad_id="7"),
    ]
    project.land("touches", again, profile_id=PROFILE, batch="again")
    project.land("touches", [_clicked("between", 2), _clicked("between", 6)], profile_id=PROFILE, batch="between")
    guests = [_at_kiosk(str(guest), 4, email=f"guest{guest}@example.com") for guest in range(4)]
    project.land("touches", guests, profile_id=PROFILE, batch="guests")
    project.land("touches", [_touch("new", 4, person_key="other")], profile_id=PROFILE, batch="latest")
    people = [_person("named", first_name="Ann"), _person("agrees", marketing_consent=False)]
    told = {
        "orders": [_order("buys", 2)],
        "ad_referrals": [_referral("stays"), _referral("chats")],
        "people": [*people, _person("moves", email="moved@example.com")],
        "page_events": [_page("10:00"), _page("10:30", consent_marketing=False), _page("11:00")],
        "personal_names": [
            _name("agrees", 1, first_name="Gus 1"),
            {"name_key": "was 1", "_deleted": True},
            _name("reads", 3, last_name="Reed"),
            _name("becomes", 4, email=None, anonymous_id="becomes", first_name="Bea", event_origin="browser"),
        ],
    }
    for dataset, rows in told.items():
        project.land(dataset, rows, profile_id=PROFILE)
