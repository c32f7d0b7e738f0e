"""The state folder and the operational database, made ready for a command."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from api import logs
from api.migrate import upgrade
from orchestration.instance import prepare_instance
from orchestration.lake import Lake
from orchestration.log_files import put_aside
from orchestration.room import make_room
from touchledger import own_folder
from touchledger.lost_key import require_own_key
from touchledger.settings import Settings


def prepare(settings: Settings) -> None:
    """Make the state folder, bring the database to this version's schema, and make the lake's and Dagster's folders.

    Raises OSError, NewerDatabaseError, HeldDatabaseError or SQLAlchemy's errors where the disk or the database does not
    let it, SharedHistoryError where another deployment keeps Dagster's books in the database, and LostKeyError where
    the folder has lost the key that the database was used with.
    """
    own_folder.make(settings.home)
    # first, for on a full disk all else fails
    make_room(settings)
    for folder in (settings.inbox, settings.published, settings.home / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    upgrade(settings.operational_url)
    require_own_key(settings)
    prepare_instance(settings)
    Lake(settings.lake).prepare()


@contextmanager
def logging_to_file(settings: Settings) -> Iterator[None]:
    """Send what is logged while the block runs, redacted, to logs/commands.log; the terminal is for results."""
    path = settings.home / "logs" / "commands.log"
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    own_folder.make(settings.home)
    path.parent.mkdir(exist_ok=True)
    put_aside(path, settings.log_mb)
    stream = path.open("a", encoding="utf-8")
    logs.configure(settings.log_level, stream=stream)
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        # what a full disk has no room for is lost; what the command did is not
        with suppress(OSError):
            stream.close()
