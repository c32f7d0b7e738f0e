"""A platform that keeps silent keeps nobody waiting but its own conversions."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from api.exports import sending
from api.models import Connection
from api.worker import chores
from tests.api.exports.conftest import Exporting


def test_a_platform_that_keeps_silent_keeps_no_other_chore_waiting(
    exporting: Exporting, monkeypatch: pytest.MonkeyPatch
) -> None:
    # mail and webhooks waited for twenty seconds with each destination
    exporting.publish(exporting.conversion("one"))
    exporting.match()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/meta"
        exporting.change(Connection, exporting.connection.id, base_url=url)
        (chore,) = [one for one in chores(exporting.settings) if one.name == "send_conversions"]
        with monkeypatch.context() as hasty:
            hasty.setattr("api.beside.PATIENCE", 0.05)
            assert (chore.do(exporting.settings), chore.do(exporting.settings)) == (0, 0)
        silent.accept()[0].close()
        monkeypatch.setattr("api.beside.PATIENCE", 60.0)
        assert chore.do(exporting.settings) == 1
    (row,) = exporting.rows()
    assert (row.status, row.attempts, row.reason) == ("queued", 1, "connection")


def test_a_platform_that_keeps_silent_is_asked_again_later(
    exporting: Exporting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "ONCE", replace(sending.ONCE, read_timeout=0.1))
    exporting.publish(exporting.conversion("one"))
    exporting.match()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/meta"
        exporting.change(Connection, exporting.connection.id, base_url=url)
        exporting.send()
    (row,) = exporting.rows()
    assert (row.status, row.attempts, row.reason) == ("queued", 1, "timeout")
