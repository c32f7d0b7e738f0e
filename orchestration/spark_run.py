"""The folder of a run on Spark, which holds people: where it is, and how it goes.

Below `TOUCHLEDGER_SPARK_FOLDER` it has a name that no other deployment's run has, and a note in the state folder keeps
its path: there it is found again whatever that setting names since, and wherever the state folder was moved.
"""

from __future__ import annotations

import shutil
import time
import uuid
from contextlib import suppress
from pathlib import Path

from orchestration import durable
from orchestration.locks import WriterBusyError, is_held, only_writer
from touchledger.settings import Settings

# of a dbt that is stopped, and of a Java whose driver is gone: it stops its application first
ENDING_SECONDS, LOOK_EVERY_SECONDS = 30.0, 0.1


class LeftBehindError(RuntimeError):
    """What an application built, which holds people, cannot be removed; the message names it and the way out."""


def make(settings: Settings) -> None:
    """Make the folder of a new run. There is none of another one: `clear` comes before."""
    if settings.spark_folder is not None:
        settings.spark_runs.mkdir(parents=True, exist_ok=True)
        durable.write_text(_note(settings), str(settings.spark_runs / f"touchledger-{uuid.uuid4()}"))
    folder(settings).mkdir()


def folder(settings: Settings) -> Path:
    """That of the run under way, or of one that was killed; else the one that needs no note."""
    note = _note(settings)
    return Path(note.read_text()) if note.exists() else _own(settings)


def is_left(settings: Settings) -> bool:
    """Whether a run is under way, or one was killed whose folder nobody has cleared."""
    return _note(settings).exists() or _own(settings).exists()


def clear(settings: Settings) -> None:
    """Remove what an application left, which holds people, once its Java has ended: after a kill it goes on a while.

    Raises LeftBehindError where something of it stays.
    """
    left, deadline = folder(settings), time.monotonic() + ENDING_SECONDS
    while is_held(log(settings)) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_SECONDS)
    while True:
        try:
            if not left.exists():
                break
            shutil.rmtree(left)
        except OSError as error:
            # an executor that ends may still write there, or hold a file open on NFS
            if time.monotonic() >= deadline:
                told = f"{left} holds people that a build on Spark read, and cannot be removed ({error})"
                way_out = "remove it; workers of another user need a group of this user's, and a umask of 002"
                raise LeftBehindError(f"{told}: {way_out}") from None
            time.sleep(LOOK_EVERY_SECONDS)
    durable.remove(_note(settings))


def clear_after_a_stop(settings: Settings) -> None:
    """The same once a dbt that was stopped has ended; one that is at work clears too, and what stays is told then."""
    lock = settings.home / "locks" / "dbt.lock"
    with (
        suppress(WriterBusyError, LeftBehindError),
        only_writer(lock, purpose="clear what a stopped build left", wait_seconds=ENDING_SECONDS),
    ):
        clear(settings)


def log(settings: Settings) -> Path:
    """What Spark says; Java holds it for as long as it runs."""
    return settings.home / "logs" / "spark.log"


def _own(settings: Settings) -> Path:
    return settings.home / "spark"


def _note(settings: Settings) -> Path:
    return settings.home / "spark.run"
