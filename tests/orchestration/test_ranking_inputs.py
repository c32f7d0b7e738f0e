"""What the ranker reads of a warehouse: the days, the accounts and the responses of each ad."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pytest

from orchestration.locks import only_writer
from orchestration.ranking.wear import NEVER
from orchestration.ranking_inputs import known, read
from tests.factories import ranked_warehouses
from tests.factories.ad_worlds import World
from tests.factories.wear_worlds import WearWorld
from touchledger.settings import Settings


@pytest.fixture
def mine(tmp_path: Path) -> Settings:
    """A deployment of three profiles that a build has left."""
    settings = Settings(home=tmp_path / "mine")
    scores, wear = World(accounts=3, ads=60, quality=0.5), WearWorld(accounts=3, ads=60, wear=0.12)
    ranked_warehouses.build(settings, scores.history(1), wear.panel(1))
    return settings


def test_days_after_the_last_whole_one_of_a_profile_say_nothing_of_wear(mine: Settings) -> None:
    with duckdb.connect(str(mine.warehouse)) as warehouse:
        lagged = "profile_key = 1 and as_of = (select max(as_of) from intermediate.int_score_history)"
        warehouse.execute(f"delete from intermediate.int_score_history where {lagged}")
    tables = read(mine)
    assert tables is not None
    today = known(tables)
    newest, of_first = today.newest_of, np.array([profile == "profile 1" for profile, _ in today.ads])
    assert newest["profile 1"] == today.panel.newest - 7
    assert today.panel.spend[of_first, -8].sum() > 0 and not today.panel.spend[of_first, -7:].any()
    assert today.panel.spend[~of_first, -7:].sum(axis=0).all()


def test_an_ad_rests_with_its_own_account_whatever_another_of_the_platform_spends(mine: Settings) -> None:
    # ads of an account that was off for ten days were told as stopped for good, and nothing was foreseen of them again
    with duckdb.connect(str(mine.warehouse)) as warehouse:
        warehouse.execute("update intermediate.int_score_history set ad_account_id = 'two' where entity_key % 2 = 0")
        newest = "(select max(day) from marts.delivery_daily)"
        rest = f"entity_key % 2 = 0 and day between {newest} - 59 and {newest} - 50"
        warehouse.execute(f"delete from marts.delivery_daily where {rest}")
    tables = read(mine)
    assert tables
    today = known(tables)
    panel, of_two = today.panel, np.array([int(ad.removeprefix("ad ")) % 2 == 0 for _, ad in today.ads])
    first = panel.spend.shape[1] - 60
    assert not panel.account_spent[of_two, first : first + 10].any()
    assert panel.account_spent[~of_two, first : first + 10].all()
    went_on = of_two & panel.delivered[:, first - 1] & panel.delivered[:, -1]
    assert went_on.sum() > 10
    assert (panel.stopped_on[went_on] == NEVER).all()


def test_the_ranker_waits_for_a_build_to_end_and_reads_what_it_left(mine: Settings) -> None:
    lock, built = mine.home / "locks" / "warehouse.lock", mine.home / "warehouse.built"
    with ThreadPoolExecutor(1) as pool:
        with only_writer(lock, purpose="build"):
            built.unlink()
            reading = pool.submit(read, mine)
            with pytest.raises(TimeoutError):
                reading.result(timeout=0.5)
            built.write_text("2")
        assert reading.result() is not None


def test_meetings_that_were_attended_are_responses_as_they_are_in_the_score(mine: Settings) -> None:
    with duckdb.connect(str(mine.warehouse)) as warehouse:
        warehouse.execute("update intermediate.int_score_history set cohort_objective = 'leads'")
        warehouse.execute(
            "insert into marts.credit_daily by name select profile_key, level, 'last_touch' as model, day, entity_key,"
            " 0 as payment_received, 0 as lead_created, 0 as appointment_booked, 2 as appointment_attended,"
            " 0 as quote_presented, 0 as closed_won, 0 as custom_cash, 0 as custom_pipeline"
            " from marts.delivery_daily"
        )
    tables = read(mine)
    assert tables
    panel = known(tables).panel
    assert np.array_equal(panel.outcomes, 2.0 * panel.delivered)
