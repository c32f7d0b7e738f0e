"""The process beside the API that does what no request waits for: `python -m api.worker`."""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FrameType

import structlog

from api import (
    chat_media,
    db,
    idempotency,
    lapses,
    logos,
    logs,
    mail,
    mail_delivery,
    newcomers,
    patience,
    platform_changes,
    rate_limit,
    sealing,
    sender_domains,
    sign_in,
)
from api.beside import beside
from api.creative_analysis import working
from api.exports import matching, sending
from api.hooks import store_effects
from api.oauth import families
from api.one_by_one import Round, is_everybodys, never
from api.recommendations import raising
from api.reports import making, scheduling
from api.steady import Clock
from api.webhooks import delivering, waiting
from touchledger.settings import Settings, load

log = structlog.get_logger("api.worker")

LOOK_EVERY_SECONDS = 2.0
SCHEDULES_EVERY = 30.0
MINUTELY = 60.0
HOURLY = 3600.0
DAILY = 86400.0


@dataclass
class Chore:
    """Something done again and again, at most every `every` seconds; one that fails is tried again next time.

    Why it fails is logged once, and again only when that changes or after it has worked meanwhile. One that `is_final`
    takes away for good what is over by the clock, and waits for one that is to be believed.
    """

    name: str
    do: Callable[[Settings], object]
    every: float = 0.0
    is_final: bool = False
    done_at: float = field(default=float("-inf"))
    trouble: tuple[object, ...] | None = None

    def run(self, settings: Settings, at: float) -> None:
        """Do it if it is due at `at` (seconds of a monotonic clock)."""
        if at - self.done_at < self.every:
            return
        self.done_at = at
        try:
            self.do(settings)
        except Exception as problem:
            self._tell(problem)
        else:
            if self.trouble is not None:
                log.info("chore_works_again", chore=self.name)
            self.trouble = None

    def _tell(self, problem: Exception) -> None:
        before, self.trouble = self.trouble, _kind(problem)
        if self.trouble == before:
            return
        if is_everybodys(problem):
            # no fault of the chore: where it was raised tells nothing
            log.warning("chore_waits", chore=self.name, problem=str(problem))
        else:
            log.exception("chore_failed", chore=self.name, exc_info=problem)


def _kind(problem: Exception) -> tuple[object, ...]:
    """What tells one trouble from another: texts may hold a time or an id, which differ each time."""
    if is_everybodys(problem):
        return (str(problem),)
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    return type(problem), frame.f_code.co_filename, line


def chores(settings: Settings, ended: Callable[[], bool] = never) -> list[Chore]:
    """What this deployment's worker does; once `ended` says so, those that take long begin nothing more."""
    found = [
        Chore("forget_answers", idempotency.forget_old, every=HOURLY, is_final=True),
        Chore("forget_allowances", rate_limit.forget_unused, every=HOURLY),
        Chore("forget_sessions", sign_in.forget_ended, every=DAILY, is_final=True),
        Chore("forget_old_mail", mail_delivery.forget_old, every=DAILY, is_final=True),
        Chore("forget_chat_media", chat_media.forget_expired, every=HOURLY, is_final=True),
        Chore("forget_agents_tokens", families.forgetting_old(), every=HOURLY, is_final=True),
        Chore("forget_store_deliveries", store_effects.forgetting_old(), every=HOURLY, is_final=True),
        Chore("renew_tokens", sealing.renew_tokens, every=DAILY),
        Chore("forget_logos", logos.forget_unnamed, every=DAILY),
        Chore("forget_report_files", making.forget_unnamed, every=DAILY),
        Chore("run_schedules", scheduling.run_due, every=SCHEDULES_EVERY),
        Chore("make_reports", partial(making.make_due, ended=ended)),
        Chore("settle_reports", making.settle_sending),
        Chore("analyse_creatives", beside(partial(working.analyse_due, ended=ended))),
        Chore("raise_recommendations", partial(raising.raise_due, going_round=Round())),
        Chore("check_sender_domains", sender_domains.check_all, every=HOURLY),
        Chore("settle_store_deliveries", partial(store_effects.settle_due, going_round=Round())),
        Chore("match_conversions", matching.match_all),
        Chore("send_conversions", beside(partial(sending.send_due, ended=ended))),
        Chore("give_up_exports", sending.give_up, every=HOURLY, is_final=True),
        Chore("deliver_webhooks", delivering.sending()),
        Chore("put_webhooks_right", waiting.put_right, every=MINUTELY),
        Chore("forget_old_webhooks", delivering.forgetting_old(), every=MINUTELY, is_final=True),
        Chore("note_newcomers", newcomers.noting()),
        Chore("lapse_plans", lapses.lapse, every=HOURLY, is_final=True),
        Chore("close_abandoned_changes", platform_changes.close_all_abandoned, every=SCHEDULES_EVERY),
    ]
    if mail.is_configured(settings):
        found.append(Chore("deliver_mail", beside(partial(mail_delivery.deliver, ended=ended))))
    return found


def work(settings: Settings, ended: threading.Event) -> None:
    """Do every chore in turn until `ended` is set."""
    patience.shorten(settings.operational_url)
    todo, clock = chores(settings, ended.is_set), Clock.of(settings)
    while not ended.is_set():
        for chore in todo:
            # looked at before each of them: it may leap within a round
            may = not chore.is_final or clock.is_believed(db.now(), time.monotonic())
            if may and not ended.is_set():
                chore.run(settings, time.monotonic())
        ended.wait(LOOK_EVERY_SECONDS)


def main() -> None:
    """Work until SIGTERM or Ctrl-C; what is being done is finished first, and nothing more is begun."""
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    settings = load()
    logs.configure(settings.log_level)
    work(settings, ended)


if __name__ == "__main__":
    main()
