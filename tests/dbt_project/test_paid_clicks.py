"""Paid clicks agree with credit: what they cost is what is unattributed under last touch at the level of ads."""

from __future__ import annotations

from api.served import ALL_OUTCOMES
from tests.dbt_project.project import Project

_FROM_CLICKS = """
select profile_key, day, case when reason = 'no_ad_parameter' then 'without' else 'named wrongly' end as kind,
    sum(conversions), sum(cash_minor)
from marts.paid_clicks where reason <> 'named' and (conversions > 0 or cash_minor > 0)
group by all
"""
_FROM_CREDIT = f"""
select profile_key, day, case when reason = 'paid_without_ad' then 'without' else 'named wrongly' end as kind,
    sum({ALL_OUTCOMES}), sum(cash_minor)
from marts.unattributed_daily
where model = 'last_touch' and level = 'ad' and reason in ('paid_without_ad', 'unknown_ad', 'parent_only')
group by all
"""
_TOUCHES = """
select touches.profile_key, count(*), count(places.ad_key)
from intermediate.int_touches as touches
join intermediate.int_destinations as places using (destination_key)
where coalesce(places.reason, 'unknown_ad') in ('unknown_ad', 'paid_without_ad')
group by all
"""
_CLICKS = """
select profile_key, sum(clicks), sum(clicks) filter (where reason = 'named') from marts.paid_clicks group by all
"""

_CLICKED_UNPAID = """
select distinct places.reason
from staging.stg_app__touches as told
join intermediate.int_touches as touches on told.record_no = touches.record_no
join intermediate.int_destinations as places using (destination_key)
where told.click_id is not null and not told.is_paid
    and coalesce(told.ad_id, told.ad_set_id, told.campaign_id) is null
"""


def test_what_clicks_without_an_ad_cost_is_what_no_ad_was_credited_with(credited: Project) -> None:
    found = sorted(credited.rows(_FROM_CLICKS))
    assert len({kind for _, _, kind, *_ in found}) == 2
    assert found == sorted(credited.rows(_FROM_CREDIT))


def test_every_paid_touch_is_one_click(credited: Project) -> None:
    clicks = {profile: (count, named or 0) for profile, count, named in credited.rows(_CLICKS)}
    assert clicks == {profile: (count, named) for profile, count, named in credited.rows(_TOUCHES)}


def test_a_click_that_its_producer_declares_unpaid_is_no_paid_click(credited: Project) -> None:
    assert credited.rows(_CLICKED_UNPAID) == [("other_channel",)]


def test_reasons_of_the_worlds_are_told_apart(credited: Project) -> None:
    assert {reason for (reason,) in credited.rows("select distinct reason from marts.paid_clicks")} == {
        "named", "no_ad_parameter", "macro_not_expanded", "malformed_ad_id", "unknown_ad_id", "parent_only",
    }  # fmt: skip
