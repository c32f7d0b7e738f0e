"""Accounts, sessions, tokens, keys, members and invitations."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa

from api import db
from api.models import OutgoingMail, Profile
from api.roles import Role
from api.scopes import Scope
from tests.factories import people as factory
from tests.recording.deployment import Place
from tests.recording.figures import CAMPAIGN, WINDOW
from tests.recording.who import Who
from touchledger.demo import DEMO_PROFILE_ID, DEMO_WORKSPACE_ID
from touchledger.demo_person import EMAIL, NAME

PASSWORD, ANOTHER = "correct horse battery staple", "a long walk by the sea"
LENA = {"email": "lena@example.com", "password": PASSWORD, "first_name": "Lena"}


def bearer(token: str) -> str:
    return f"Bearer {token}"


def arrive(place: Place) -> Who:
    """Sign the demo's owner in, and mint what the other scenes ask with."""
    ask, unkept = place.recorder.ask, place.recorder.unkept
    sign_in = {"email": EMAIL, "password": (place.settings.home / NAME).read_text().strip()}
    shown = {"email": EMAIL, "password": PASSWORD}
    owner = bearer(ask("begin_session", body=sign_in, shown=shown)["token"])
    place.recorder.refused("begin_session", "unauthorized", body=shown)
    for_warehouse: dict[str, Any] = {"profile_id": DEMO_PROFILE_ID, "name": "Warehouse", "expires_in_days": 90}
    for_warehouse |= {"scopes": ["analytics:read", "campaigns:read"], "allowed_ips": ["203.0.113.7"]}
    ask("mint_api_key", owner, body=for_warehouse)
    whole = {"profile_id": DEMO_PROFILE_ID, "name": "Storefront", "scopes": [scope.value for scope in Scope]}
    narrow = {"profile_id": DEMO_PROFILE_ID, "name": "Screen", "scopes": ["realtime:read"]}
    made = [unkept("mint_api_key", owner, body=one)["key"] for one in (whole, narrow)]
    viewer = factory.user(place.url, email="omar@example.com", name="Omar")
    factory.member(place.url, viewer, DEMO_WORKSPACE_ID, Role.VIEWER)
    key, screen = map(bearer, made)
    known = unkept("customer_list", key, query=WINDOW)
    customer = next(one["external_ref"] for one in known if one["external_ref"])
    return Who(owner, key, screen, bearer(factory.session_of(place.url, viewer)), customer)


def keys(place: Place, who: Who) -> None:
    ask, unkept = place.recorder.ask, place.recorder.unkept
    ask("api_key_list", who.owner, query={"limit": 1})
    more = {"profile_id": DEMO_PROFILE_ID, "name": "Nightly import", "scopes": ["events:write"]}
    first = unkept("mint_api_key", who.owner, body=more)["id"]
    second = ask("rotate_api_key", who.owner, at={"key_id": first}, body={})["id"]
    place.recorder.refused("rotate_api_key", "invalid_state", who.owner, at={"key_id": first}, body={})
    ask("revoke_api_key", who.owner, at={"key_id": second}, body={})


def own_account(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("signed_in_person", who.owner)
    ask("change_person", who.owner, body={"first_name": "Demo", "locale": "en"})
    ask("session_list", who.owner)
    token = ask("mint_token", who.owner, body={"name": "Coding agent", "grants": ["mcp:read"], "expires_in_days": 30})
    ask("token_list", who.owner)
    ask("revoke_token", who.owner, at={"token_id": token["id"]})
    ask("agent_settings", who.owner)
    ask("change_agent_settings", who.owner, body={"pii_mode": "masked_default", "mcp_writeback_enabled": True})


def entering(place: Place, who: Who) -> None:
    ask, unkept = place.recorder.ask, place.recorder.unkept
    lena = bearer(ask("sign_up", body=LENA)["session"]["token"])
    place.recorder.refused("sign_up", "weak_password", body={**LENA, "password": "password"})
    ask("verify_address", body={"token": _mailed(place, "tl_")})
    ask("ask_for_reset", body={"email": LENA["email"]})
    new = {"token": _mailed(place, "tl_rst_"), "new_password": ANOTHER}
    ask("set_new_password", body=new)
    place.recorder.refused("set_new_password", "not_found", body=new)
    lena = bearer(unkept("begin_session", body={"email": LENA["email"], "password": ANOTHER})["token"])
    change = {"current_password": ANOTHER, "new_password": PASSWORD}
    ask("change_password", lena, body=change)
    place.recorder.refused("change_password", "current_password_invalid", lena, body=change)
    unkept("begin_session", body={"email": LENA["email"], "password": PASSWORD})
    sessions = unkept("session_list", lena)
    other = next(one["id"] for one in sessions if not one["current"])
    ask("end_other_session", lena, at={"session_id": other})
    ask("end_session", lena, body={})


def members(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    listed = ask("membership_list", who.owner)
    omar = next(one for one in listed if one["email"] == "omar@example.com")
    at = {"membership_id": omar["membership_id"]}
    ask("change_membership", who.owner, at=at, body={"role": "editor", "permissions": ["pii.view"]})
    own = next(one for one in listed if one["role"] == "owner")["membership_id"]
    place.recorder.refused("remove_membership", "invalid_state", who.owner, at={"membership_id": own})
    with db.transaction(place.url) as session:
        demo = session.get_one(Profile, DEMO_PROFILE_ID)
    guest = factory.user(place.url, email="gus@example.com", name="Gus")
    of_guest = factory.member(place.url, guest, DEMO_WORKSPACE_ID, Role.GUEST, profiles=[demo]).id
    ask("change_profile_member", who.owner, at={"membership_id": of_guest}, body={"role": "viewer"})
    ask("profile_member_list", who.owner)
    ask("remove_profile_member", who.owner, at={"membership_id": of_guest})
    nora = factory.user(place.url, email="nora@example.com", name="Nora")
    ask("remove_membership", who.owner, at={"membership_id": factory.member(place.url, nora, DEMO_WORKSPACE_ID).id})


def invitations(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    made = ask("create_invitation", who.owner, body={"email": "lena@example.com", "role": "viewer"})
    ask("invitation_list", who.owner)
    token = str(made["accept_url"]).partition("#")[2]
    lena = bearer(place.recorder.unkept("begin_session", body={"email": LENA["email"], "password": PASSWORD})["token"])
    place.recorder.refused("accept_invitation", "forbidden", who.viewer, body={"token": token})
    ask("accept_invitation", lena, body={"token": token})
    place.recorder.refused(
        "create_invitation", "invalid_state", who.owner, body={"email": "lena@example.com", "role": "viewer"}
    )
    again = ask("create_profile_invitation", who.owner, body={"email": "nora@example.com", "role": "guest"})
    ask("profile_invitation_list", who.owner)
    ask("revoke_profile_invitation", who.owner, at={"invitation_id": again["invitation_id"]})
    more = place.recorder.unkept("create_invitation", who.owner, body={"email": "ines@example.com", "role": "viewer"})
    ask("revoke_invitation", who.owner, at={"invitation_id": more["invitation_id"]})


def trails(place: Place, who: Who) -> None:
    agent = place.recorder.unkept("mint_token", who.owner, body={"name": "Coding agent", "grants": ["mcp:write"]})
    asked = {
        "at": {"campaign_id": CAMPAIGN},
        "query": {"profile_id": DEMO_PROFILE_ID},
        "body": {"note": "Out of stock"},
    }
    place.recorder.unkept("pause_campaign", bearer(agent["token"]), **asked)
    place.recorder.ask("writeback_list", who.owner, query={"limit": 1})
    place.recorder.ask("audit_trail", who.owner, query={"limit": 2})
    place.recorder.ask("pii_access_log", who.owner, query={"limit": 2})


def _mailed(place: Place, prefix: str) -> str:
    """The newest code that was mailed."""
    with db.transaction(place.url) as session:
        texts = session.scalars(sa.select(OutgoingMail.text).order_by(OutgoingMail.id.desc())).all()
    return next(found[0] for text in texts if (found := re.search(rf"{prefix}[a-z_]*[0-9A-Za-z]{{38}}", text or "")))


SCENES = (keys, own_account, entering, members, invitations)
