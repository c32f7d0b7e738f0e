"""A mail server that keeps silent keeps nobody waiting but its own messages."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from api import mail_delivery
from api.worker import chores
from tests.api.test_mail import put, rows, sending_to


def test_a_mail_server_that_keeps_silent_keeps_no_other_chore_waiting(
    home: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # webhooks and exports waited with it for thirty seconds
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = sending_to(silent.getsockname()[1], home)
        put(settings)
        chore = next(one for one in chores(settings) if one.name == "deliver_mail")
        with monkeypatch.context() as hasty:
            hasty.setattr("api.beside.PATIENCE", 0.05)
            assert (chore.do(settings), chore.do(settings)) == (0, 0)
        # it is being waited for
        assert [row.attempts for row in rows(settings)] == [0]
        silent.accept()[0].close()
        monkeypatch.setattr("api.beside.PATIENCE", 60.0)
        chore.do(settings)
    assert [(row.status, row.attempts) for row in rows(settings)] == [("queued", 1)]


def test_a_mail_server_that_keeps_silent_is_given_up(
    home: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_delivery, "TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = sending_to(silent.getsockname()[1], home)
        put(settings)
        assert mail_delivery.deliver(settings) == 0
    assert [(row.status, row.attempts) for row in rows(settings)] == [("queued", 1)]
