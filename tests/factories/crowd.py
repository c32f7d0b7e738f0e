"""What one of several processes does when they all reach for the same row."""

from __future__ import annotations

from api import db, errors, idempotency
from api.idempotency import Answer, Claim
from api.models import Workspace
from api.rate_limit import charge


def charge_many(url: str, tries: int) -> list[tuple[bool, int]]:
    """Charge one bucket again and again; for each try whether it was accepted, and what remained."""
    answers = []
    for _ in range(tries):
        with db.transaction(url, durable=False) as session:
            allowance = charge(session, "key:shared", units=1, limit=60)
        answers.append((allowance.retry_after is None, allowance.remaining))
    db.close_engines(url)
    return answers


def claim_many(url: str, keys: list[str]) -> None:
    """Claim each key and, if it was free, make a workspace of that name with it."""
    for key in keys:
        try:
            with db.transaction(url) as session:
                claim = idempotency.claim(session, account="key:1", key=key, print_="p", at=db.now())
        except errors.ApiError:
            continue
        if isinstance(claim, Claim):
            with db.unit(url) as session:
                session.add(Workspace(name=key))
                idempotency.finish(session, claim, Answer(201, "{}"))
    db.close_engines(url)
