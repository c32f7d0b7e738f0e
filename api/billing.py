"""Selling a plan: the trial at a workspace's creation, and the processor's pages that people are sent to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, errors
from api.models import Handoff
from api.subscriptions import begin_trial
from connectors.errors import ConnectorError, Malformed, Throttled, TooMuchData, Transient
from connectors.stripe_billing import Order, Page, StripeBilling
from connectors.transport import Policy, Transport
from touchledger.settings import Settings

__all__ = [
    "Problem",
    "ask_checkout",
    "begin_trial",
    "cancel",
    "end_pages",
    "open_handoffs",
    "processor",
    "refusal",
]

# a person waits for the page: a slow processor is told as unavailable rather than waited for
PATIENCE = Policy(
    attempts=2, longest_wait=1, first_backoff=0.1, longest_backoff=0.3,
    connect_timeout=2, read_timeout=4, whole_timeout=6, largest_body=2**20,
)  # fmt: skip
RETRY = {"Retry-After": "60"}
KINDS = ("checkout", "plan_selection", "connect")

Interval = Literal["month", "year"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no page: `unconfigured`, `unavailable`, or a reason of provider_error."""

    reason: str

    @property
    def message(self) -> str:
        """For people, and without anything of the processor's own words."""
        if self.reason == "unconfigured":
            return "This deployment sells no plans: its payment processor is not configured."
        if self.reason == "unavailable":
            return "The payment processor could not be reached; ask for the checkout again later."
        return "The payment processor refused; ask for the checkout again later."


def ask_checkout(
    settings: Settings, *, workspace_id: str, plan: str, interval: Interval, customer: str | None
) -> Handoff | Problem:
    """The hand-off of a new checkout session, for the caller to add; or why there is none, and never an exception.

    Touches no database, so that no lock is held while the processor is asked, with the patience of `PATIENCE`.
    """
    price = settings.billing_prices.get(f"{plan}_{interval}")
    if price is None or settings.billing_secret is None:
        return Problem("unconfigured")
    handoff = Handoff(id=db.new_id(), kind="checkout", workspace_id=workspace_id, plan=plan, interval=interval)
    back = f"{settings.base_url}/handoffs/{handoff.id}"
    marks = {"workspace_id": workspace_id, "plan": plan, "handoff_id": handoff.id}
    order = Order(price, handoff.id, marks, success_url=back, cancel_url=back, customer=customer)
    try:
        with processor(settings) as stripe:
            page: Page = stripe.checkout(order, key=f"checkout:{handoff.id}")
    except ConnectorError as error:
        return _problem(error)
    handoff.url, handoff.external_ref, handoff.expires_at = page.url, page.ref, page.expires_at
    handoff.created_at, handoff.status = db.now(), "pending"
    return handoff


@contextmanager
def processor(settings: Settings, policy: Policy = PATIENCE) -> Iterator[StripeBilling]:
    """The deployment's payment processor; 503 service_unavailable when none is configured."""
    if settings.billing_secret is None:
        raise refusal(Problem("unconfigured"))
    with Transport(policy) as transport:
        yield StripeBilling(settings.billing_url, settings.billing_secret.get_secret_value(), transport)


def refusal(problem: Problem | ConnectorError) -> errors.ApiError:
    """503 service_unavailable for a processor that is absent or down, 502 provider_error for one that said no."""
    told = _problem(problem) if isinstance(problem, ConnectorError) else problem
    if told.reason in {"unconfigured", "unavailable"}:
        return errors.SERVICE_UNAVAILABLE(told.message, headers=RETRY)
    return errors.PROVIDER_ERROR(told.message, reason=told.reason)


def open_handoffs(session: Session, workspace_id: str, at: datetime, *, kind: str = "checkout") -> list[Handoff]:
    """The hand-offs of a kind that can still be completed, newest first."""
    chosen = sa.select(Handoff).where(
        Handoff.workspace_id == workspace_id,
        Handoff.kind == kind,
        Handoff.status == "pending",
        Handoff.expires_at > at,
    )
    return list(session.scalars(chosen.order_by(Handoff.created_at.desc(), Handoff.id)))


def end_pages(settings: Settings, handoffs: Iterable[Handoff]) -> None:
    """Close the processor's pages of hand-offs that are replaced, where that succeeds; touches no database."""
    refs = [one.external_ref for one in handoffs if one.kind == "checkout" and one.external_ref]
    if not refs or settings.billing_secret is None:
        return
    with processor(settings) as stripe:
        for ref in refs:
            # a page that stays open does no harm: whoever pays there has paid for the plan it names
            with suppress(ConnectorError):
                stripe.end_checkout(ref)


def cancel(
    session: Session, workspace_id: str, *, kinds: Iterable[str] = KINDS, closed: Iterable[Handoff] = ()
) -> list[Handoff]:
    """End what is open of a workspace: a newer hand-off replaces it, or the workspace is archived.

    `closed` are those whose pages were closed for it just now: the processor may have told that already, as expired.
    """
    at = db.now()
    ended = [one for kind in kinds for one in open_handoffs(session, workspace_id, at, kind=kind)]
    told = sa.select(Handoff).where(Handoff.id.in_([one.id for one in closed]), Handoff.status == "expired")
    ended += session.scalars(told)
    for handoff in ended:
        handoff.status, handoff.reason, handoff.ended_at = "canceled", None, at
    return ended


def _problem(error: ConnectorError) -> Problem:
    if isinstance(error, Throttled):
        return Problem("throttled")
    if isinstance(error, Malformed | TooMuchData):
        return Problem("bad_response")
    return Problem("unavailable" if isinstance(error, Transient) else "refused")
