"""The process beside the API that does what no request waits for: `python -m api.worker`."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FrameType

import structlog

from api import (
    chat_media,
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
)
from api.beside import beside
from api.creative_analysis import working
from api.exports import matching, sending
from api.hooks import store_effects
from api.one_by_one import Round
from api.recommendations import raising
from api.reports import making, scheduling
from api.webhooks import delivering
from touchledger.settings import Settings, load

log = structlog.get_logger("api.worker")

LOOK_EVERY_SECONDS = 2.0
SCHEDULES_EVERY = 30.0
HOURLY = 3600.0
DAILY = 86400.0


@dataclass
class Chore:
    """Something done again and again, at most every `every` seconds; one that fails is tried again next time."""

    name: str
    do: Callable[[Settings], object]
    every: float = 0.0
    done_at: float = field(default=float("-inf"))

    def run(self, settings: Settings, at: float) -> None:
        """Do it if it is due at `at` (seconds of a monotonic clock)."""
        if at - self.done_at < self.every:
            return
        self.done_at = at
        try:
            self.do(settings)
        except Exception as problem:
            log.exception("chore_failed", chore=self.name, exc_info=problem)


def chores(settings: Settings) -> list[Chore]:
    """What this deployment's worker does."""
    found = [
        Chore("forget_answers", idempotency.forget_old, every=HOURLY),
        Chore("forget_allowances", rate_limit.forget_unused, every=HOURLY),
        Chore("forget_old_mail", mail_delivery.forget_old, every=DAILY),
        Chore("forget_chat_media", chat_media.forget_expired, every=HOURLY),
        Chore("renew_tokens", sealing.renew_tokens, every=DAILY),
        Chore("forget_logos", logos.forget_unnamed, every=DAILY),
        Chore("forget_report_files", making.forget_unnamed, every=DAILY),
        Chore("run_schedules", scheduling.run_due, every=SCHEDULES_EVERY),
        Chore("make_reports", making.make_due),
        Chore("settle_reports", making.settle_sending),
        Chore("analyse_creatives", beside(working.analyse_due)),
        Chore("raise_recommendations", partial(raising.raise_due, going_round=Round())),
        Chore("check_sender_domains", sender_domains.check_all, every=HOURLY),
        Chore("settle_store_deliveries", partial(store_effects.settle_due, going_round=Round())),
        Chore("match_conversions", matching.match_all),
        Chore("send_conversions", sending.send_due),
        Chore("give_up_exports", sending.give_up, every=HOURLY),
        Chore("deliver_webhooks", delivering.sending()),
        Chore("forget_old_webhooks", delivering.forget_old, every=DAILY),
        Chore("note_newcomers", newcomers.noting()),
        Chore("lapse_plans", lapses.lapse, every=HOURLY),
        Chore("close_abandoned_changes", platform_changes.close_all_abandoned, every=SCHEDULES_EVERY),
    ]
    if mail.is_configured(settings):
        found.append(Chore("deliver_mail", beside(mail_delivery.deliver)))
    return found


def work(settings: Settings, ended: threading.Event) -> None:
    """Do every chore in turn until `ended` is set."""
    patience.shorten(settings.operational_url)
    todo = chores(settings)
    while not ended.is_set():
        for chore in todo:
            chore.run(settings, time.monotonic())
        ended.wait(LOOK_EVERY_SECONDS)


def main() -> None:
    """Work until SIGTERM or Ctrl-C; what is being done is finished first."""
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
