"""The processes that serve, started as `touchledger serve` starts them."""

from __future__ import annotations

from tests.end_to_end.command import free_port
from touchledger.serving import api_address, start_api
from touchledger.settings import Settings
from touchledger.supervisor import Supervisor


def test_the_api_answers_and_ends_without_a_complaint(settings: Settings) -> None:
    settings = settings.model_copy(update={"api_port": free_port(), "api_workers": 1})
    with Supervisor(settings.home / "logs") as supervisor:
        api = start_api(supervisor, settings)
        supervisor.wait_until_answers(api, f"{api_address(settings)}/healthz", within=60)
    log = api.log.read_text()
    assert "Shutting down" in log
    # as bindings in C++ do of what is still there when the interpreter has ended
    assert "leaked" not in log
