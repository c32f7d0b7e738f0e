"""What a mailed code opens, for the routes and for the pages."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api import db, one_time, passwords, sign_in
from api.audit import Actor, Attempt, record
from api.v1.credentials import people


def confirm_address(session: Session, *, token: str) -> None:
    """Confirm the address that the code was mailed to; 404 not_found for a code that opens nothing."""
    people.verify_address(session, user_id=one_time.use(session, token, "email_verification"))


def fit_password(url: str, *, token: str, new_password: str) -> str:
    """The hash of a new password, made before anything is locked.

    404 not_found for a code that opens nothing, 422 weak_password or compromised_password; the code stays unused.
    """
    with db.transaction(url, durable=False) as reading:
        one_time.require_live(reading, token, "password_reset")
    passwords.refuse_unfit(new_password)
    return passwords.hashed(new_password)


def reset_password(session: Session, *, token: str, password_hash: str, request_id: str | None) -> None:
    """Set the password with the code, which is then spent; ends every session of the person.

    Of an address that was never confirmed before, user tokens and what agents and apps may do end too.
    """
    user_id = one_time.use(session, token, "password_reset")
    people.reset_password(session, user_id=user_id, password_hash=password_hash)
    ended = sign_in.end_sessions(session, user_id=user_id)
    who = Actor("session", user_id, request_id=request_id)
    record(session, who, Attempt("password.reset", {"sessions_ended": ended}, category="credentials"))
