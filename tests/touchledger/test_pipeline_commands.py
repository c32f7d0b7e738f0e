"""`touchledger sync` tells what came of what was pulled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from api.db import now
from tests.factories import accounts, connected
from tests.fixtures.processor import Processor, charge
from tests.fixtures.sandbox import served
from tests.touchledger.test_cli import run
from touchledger.settings import Settings


@pytest.fixture
def processor(settings: Settings) -> Iterator[Processor]:
    """An account that a profile is connected to."""
    account = Processor()
    with served(account.app()) as account.url:
        profile = accounts.profile(settings.operational_url)
        connected.to_payments(settings.operational_url, profile, account.url, base_url=account.url)
        yield account


def test_a_sync_tells_the_rows_that_it_landed_and_those_in_quarantine(settings: Settings, processor: Processor) -> None:
    day = now().date() - timedelta(days=1)
    processor.lists["charges"] = [charge("good", day), charge("odd", day, currency="zzz")]
    done = json.loads(run("sync", "--json").stdout)
    assert (done["rows_loaded"], done["rows_quarantined"]) == (1, 1)
    assert run("sync").stdout.splitlines()[-1] == "1 rows of the connections landed; 1 lie in quarantine."
