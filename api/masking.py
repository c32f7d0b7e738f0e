"""How much of a person is told: everything to those who may know it, to agents just enough to recognise somebody."""

from __future__ import annotations

import re

from sqlalchemy.orm import Session

from api.auth import Kind, Principal
from api.models import Workspace
from api.person_names import Named
from api.pii_log import Level
from api.reach import is_healthcare

LEVELS = ("masked", "full")
_PHONE = re.compile(r"\+?[0-9][0-9 ()./-]{5,}")
_SHOWN_DIGITS = 4


def level(session: Session, principal: Principal, asked: Level | None) -> Level:
    """What a caller gets who asked for `asked` (None: whatever is usual for them).

    A user token gets whole addresses only where it asks for them, the workspace lets agents have them and nothing is
    about health; everybody else unless they ask for less.
    """
    if principal.kind is not Kind.USER_TOKEN:
        return asked or "full"
    workspace = session.get_one(Workspace, principal.profile.workspace_id)
    allowed = workspace.pii_mode == "full_default" and not is_healthcare(workspace, principal.profile)
    return "full" if asked == "full" and allowed else "masked"


def told(named: Named, at: Level) -> dict[str, str | None]:
    """name, email, phone and external_ref as an answer of this level tells them."""
    if at == "full":
        whole = {"name": named.name, "email": named.email, "phone": named.phone}
        return {**whole, "external_ref": named.external_ref}
    return {
        "name": _name(named),
        "email": named.email and _email(named.email),
        "phone": named.phone and _phone(named.phone),
        "external_ref": named.external_ref and _reference(named.external_ref),
    }


def _name(named: Named) -> str | None:
    if named.first_name:
        return named.first_name.split(" ")[0]
    return f"{named.last_name[0]}***" if named.last_name else None


def _email(email: str) -> str:
    return f"{email[0]}***{email[email.rfind('@') :]}" if "@" in email else f"{email[0]}***"


def _phone(phone: str) -> str:
    digits = re.sub(r"\D", "", phone)
    return f"***{digits[-_SHOWN_DIGITS:]}" if len(digits) > _SHOWN_DIGITS else "***"


def _reference(reference: str) -> str:
    """An own id stays whole, since it says nothing to strangers, unless it is an address or a phone itself."""
    if "@" in reference:
        return _email(reference)
    return _phone(reference) if _PHONE.fullmatch(reference) else reference
