"""A Dagster whose processes run and which begins nothing is told by the command that started it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import click
import pytest

from tests.end_to_end.command import free_port
from tests.fixtures.waiting import wait_until
from touchledger.dagster_pulse import Pulse, trouble_of
from touchledger.output import Output
from touchledger.serving import watch
from touchledger.supervisor import Supervisor

GONE = "dagster._core.errors.DagsterUserCodeUnreachableError: Could not reach user code server.\n"
NOT_REACHED = "it cannot reach the code of touchledger (Could not reach user code server.)"
WAITS = "the clock was set back, and it waits until 2099-01-02T03:04:05+00:00; end this command and begin it anew"
NAMES = ("api", "dagster")
SILENT = "its daemon was not heard of for ten minutes (SENSOR)"


def answer(*, error: str | None = None, beat: float = 0.0, look: float | None = None) -> dict[str, Any]:
    """What Dagster answers; `beat` is how many seconds ago its daemon was heard of, `look` when it last looked."""
    location = {"name": "touchledger", "locationOrLoadError": {"message": error} if error else {}}
    heard = [
        {"daemonType": "SENSOR", "required": True, "lastHeartbeatTime": time.time() - beat},
        {"daemonType": "SCHEDULER", "required": True, "lastHeartbeatTime": None},
        {"daemonType": "ASSET", "required": False, "lastHeartbeatTime": time.time() - 9999},
    ]
    ticks = [{"timestamp": look or time.time()}]
    sensors = [{"sensorState": {"ticks": ticks}}, {"sensorState": {"ticks": []}}]
    return {
        "data": {
            "repositoriesOrError": {"nodes": [{"sensors": sensors}]},
            "workspaceOrError": {"locationEntries": [location]},
            "instance": {"daemonHealth": {"allDaemonStatuses": heard}},
        }
    }


class Pages:
    """Dagster's pages on the wire: the answers in turn, the last of them for ever."""

    def __init__(self) -> None:
        self.answers: list[Any] = [answer()]
        self.asked = 0
        pages = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                pages.asked += 1
                body = json.dumps(pages.answers.pop(0) if len(pages.answers) > 1 else pages.answers[0]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def pages() -> Iterator[Pages]:
    served = Pages()
    thread = threading.Thread(target=served.server.serve_forever)
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


@pytest.mark.parametrize(
    ("told", "trouble"),
    [
        ({}, None),
        ({"beat": 540.0}, None),
        ({"beat": 660.0}, SILENT),
        ({"error": GONE}, NOT_REACHED),
        (None, "its pages do not answer"),
    ],
)
def test_what_dagster_says_that_it_lacks(pages: Pages, told: dict[str, Any] | None, trouble: str | None) -> None:
    # made here, for what is collected may wait for minutes
    pages.answers = [{"data": None, "errors": [{"message": "no"}]} if told is None else answer(**told)]
    assert trouble_of(pages.address) == trouble


def test_pages_that_do_not_answer_are_a_trouble() -> None:
    assert trouble_of(f"http://127.0.0.1:{free_port()}") == "its pages do not answer"


def test_what_lasts_for_two_looks_is_told_once_and_again_after_it_was_well(pages: Pages) -> None:
    gone = answer(error=GONE)
    # the second passes, as it does while somebody reloads the code
    pages.answers = [answer(), gone, answer(), gone, gone, gone, answer(), gone, gone]
    pulse = Pulse(pages.address, every=0.0)
    news = [pulse.trouble() for _ in range(9)]
    assert news == [None, None, None, None, NOT_REACHED, None, None, None, NOT_REACHED]


def test_looks_leave_no_authorities_behind_where_garbage_is_seldom_searched_for(pages: Pages) -> None:
    # `up` grew by 0.7 MB with each look, which is once a minute; in this process authorities are read only once
    pages.answers = [answer()] * 6
    look = f"trouble_of({pages.address!r})"
    count = "sum(isinstance(one, ssl.SSLContext) for one in gc.get_objects())"
    code = f"""import gc, ssl
from touchledger.dagster_pulse import trouble_of
gc.disable()
before = {count}
print([{look} for _ in range(5)], {count} - before)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{[None] * 5} 0"


def test_a_clock_that_was_set_back_is_told_with_the_time_until_which_nothing_begins(pages: Pages) -> None:
    # a year ahead for a minute: for a year no sensor looked at anything, and everything else was well
    ahead = datetime(2099, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
    pages.answers = [answer(look=ahead)]
    assert trouble_of(pages.address) == WAITS
    # clocks are put right by seconds all the time
    pages.answers = [answer(look=time.time() + 60)]
    assert trouble_of(pages.address) is None


def test_nothing_is_asked_between_two_looks() -> None:
    pulse = Pulse(f"http://127.0.0.1:{free_port()}")
    assert [pulse.trouble() for _ in range(3)] == [None] * 3


def test_the_command_that_serves_tells_of_it(pages: Pages, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # the process that holds the code had been killed: nothing was built any more, and `up` said nothing for ever
    pages.answers = [answer(error=GONE)]
    with Supervisor(tmp_path) as supervisor:
        api, _ = (supervisor.start(one, [sys.executable, "-c", "import time; time.sleep(300)"]) for one in NAMES)

        def end() -> None:
            # what was found on the second look is told before the third
            wait_until(lambda: pages.asked > 2)
            api.process.terminate()

        ending = threading.Thread(target=end)
        ending.start()
        with pytest.raises(click.ClickException, match="the API ended"):
            watch(Output(quiet=True), supervisor, api, lambda: None, pulse=Pulse(pages.address, every=0.0))
        ending.join()
    assert capsys.readouterr().err == (
        f"Dagster begins nothing by itself: {NOT_REACHED}; see {tmp_path / 'dagster.log'}\n"
    )
