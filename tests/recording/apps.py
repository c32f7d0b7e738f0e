"""Apps: registered and agreed with, let into a profile, and what they do with those that they provisioned."""

from __future__ import annotations

import base64
from typing import Any

from api import db
from api.models import Entitlement
from tests.api.oauth.walk import Walker, query_of, sign_in
from tests.recording.deployment import Place
from tests.recording.outside import META
from tests.recording.people import bearer
from tests.recording.who import Who
from touchledger.demo import DEMO_PROFILE_ID

BACK = "https://desk.example.com/callback"
APP = {"name": "Booking desk", "redirect_uris": [BACK], "connect_scopes": ["analytics", "events", "exports"]}


def registered(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    made = ask("register_app", who.owner, body=APP)
    at = {"app_id": made["app_id"]}
    ask("change_app", who.owner, at=at, body={"description": "Bookings of the shop in Madrid", "status": "active"})
    secret = ask("rotate_app_secret", who.owner, at=at, body={"grace_days": 7})["client_secret"]
    text = ask("dpa_text", who.owner, at=at)
    signed = {"version": text["version"], "text_hash": text["text_hash"]}
    signed |= {"signatory_name": "Ada Alder", "signatory_title": "Owner"}
    ask("accept_dpa", who.owner, at=at, body=signed)
    ask("app_list", who.owner)
    basic = "Basic " + base64.b64encode(f"{made['client_id']}:{secret}".encode()).decode()
    _provisioning(place, basic)
    _let_in(place, who, Walker(place.recorder.client, made["client_id"], BACK, auth={"Authorization": basic}), basic)
    ask("withdraw_dpa", who.owner, at=at, body={"reason": "The app is no longer used"})


def _provisioning(place: Place, app: str) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    body: dict[str, Any] = {"external_ref": "dealer-17", "name": "Trail Box Madrid", "timezone": "Europe/Madrid"}
    body |= {"currency": "EUR", "user": {"email": "marta@example.com", "first_name": "Marta"}}
    made = place.recorder.unkept("create_profile", app, body=body)["profile"]
    ask("create_profile", app, body=body)
    at = {"profile_id": made["profile_id"], "workspace_id": made["workspace_id"]}
    ask("set_entitlement", app, at={**at, "feature": "atribu_attribution"}, body={"enabled": True})
    member = {"email": "dee@example.com", "role": "viewer", "first_name": "Dee", "permissions": ["pii.view"]}
    added = ask("put_member", app, at=at, body=member)
    ask("put_member", app, at=at, body={**member, "role": "editor"})
    ask("member_list", app, at=at)
    refused("put_member", "not_found", app, body=member)
    ask("remove_member", app, at={**at, "user_id": added["user_id"]})
    ask("archive_profile", app, at=at)


def _let_in(place: Place, who: Who, walker: Walker, app: str) -> None:
    ask = place.recorder.ask
    sign_in(walker.browser, who.owner.removeprefix("Bearer "))
    asked = {"code_challenge": None, "code_challenge_method": None, "scope": "analytics events exports"}
    code = query_of(walker.decide(asked=asked, profile_id=DEMO_PROFILE_ID))["code"]
    given = walker.exchange(code, client_id=None, code_verifier=None).get_json()
    walker.browser.delete_cookie("touchledger_session")
    partner = bearer(given["access_token"])
    of_demo = {"candidate_id": DEMO_PROFILE_ID}
    ask("adopt_profile", app, at=of_demo, body={"external_ref": "alder-finch"})
    _partner(place, who, partner)
    (row,) = ask("connected_app_list", who.owner)
    ask("disconnect_app", who.owner, at={"authorization_id": row["id"]})


def _partner(place: Place, who: Who, partner: str) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    referral = {"referral_id": "r-1", "conversation_id": "c-77", "channel": "chatapp", "ad_id": "120230000000009011"}
    referral |= {"occurred_at": "2026-11-16T10:00:00Z"}
    body = {"referrals": [{**referral, "customer": {"phone": "+12525550112"}}]}
    ask("hand_over_referrals", partner, body=body)
    unknown = {"referrals": [{**referral, "ad_id": "120230000000000000", "customer": {"phone": "+12525550112"}}]}
    refused("hand_over_referrals", "unknown_ad", partner, body=unknown)
    people: dict[str, Any] = {"name": "Best customers", "operation": "replace", "connection_id": META}
    people |= {"customers": [{"external_ref": who.customer}]}
    refused("keep_customer_list", "forbidden", partner, body=people)
    with db.transaction(place.url) as session:
        session.add(Entitlement(profile_id=DEMO_PROFILE_ID, feature="partner_audiences", is_enabled=True))
    ask("keep_customer_list", partner, body=people)
    subject = {"selector": {"external_ref": who.customer}, "reason": "subject_request", "reference": "DSR-18"}
    receipt = ask("erase_customer", partner, body=subject)
    refused("erase_customer", "customer_not_found", partner, body={"selector": {"external_ref": "crm-0"}})
    ask("erasure_receipt", who.owner, at={"erasure_id": receipt["erasure_id"]}, query={"profile_id": DEMO_PROFILE_ID})


SCENES = (registered,)
