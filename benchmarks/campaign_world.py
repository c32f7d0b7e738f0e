"""Profiles with a year of delivery and credit, published in the shipped layout, with nothing of theirs computed before.

Every number is a function of its row and the seed. Ads live 60 days; a linear or decay credit touches each ad on each
day, the three single-credit models one in eight, so that a profile's rows are as many as a busy one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import duckdb

from api.served import OUTCOMES
from orchestration.publish import publish, take_token
from orchestration.served_tables import ServedTable, quoted, served_tables
from touchledger.settings import Settings

DAYS, LIFE = 365, 60
END = date(2026, 11, 15)
ADS_PER_SET, ADS_PER_CAMPAIGN = 5, 20

UNIFORM = "create macro u(n, name) as ((hash(n, name, {seed}) >> 12) / 4503599627370496.0)"

ADS = """
create temp table ads as
select profile_key, profile_id, cast(row_number() over (order by profile_key, n) as bigint) as ad,
    cast(u(row_number() over (order by profile_key, n), 'begin') * {span} as int) as begin,
    cast(n // {per_set} as int) as ad_set, cast(n // {per_campaign} as int) as campaign
from sizes, lateral (select unnest(range(greatest(entity_days // {life}, 1))) as n)
"""

DAYS_OF_ADS = """
create temp table shown as
select profile_key, ad, cast(date '{first}' + cast(begin + n as int) as date) as day, ad * 1000 + n as row
from ads, range({life}) as days(n)
"""

# campaigns, ad sets and ads have keys of one row of numbers
ENTITIES = """
create temp table entity as
with listed as (
    select distinct profile_key, 'campaign' as level, campaign as number, null as parent from ads
    union all select distinct profile_key, 'ad_set', ad_set, campaign from ads
    union all select profile_key, 'ad', ad, ad_set from ads
)
select *, cast(row_number() over (order by profile_key, level, number) as int) as entity_key from listed
"""

OF_AD = """
create temp table above as
select ads.ad, level, entity.entity_key
from ads join entity on entity.profile_key = ads.profile_key
    and number = case level when 'campaign' then campaign when 'ad_set' then ad_set else ads.ad end
"""

MARTS: Mapping[str, str] = {
    "profiles": """
        select profile_key, profile_id, 'UTC' as time_zone, 'USD' as currency, 2 as currency_digits,
            '1' as settings_version, 90 as lookback_days, 7 as half_life_days, date '{end}' as delivery_through,
            timestamp '{end} 06:00:00' as data_as_of
        from sizes
    """,
    "platforms": """
        select profile_key, 'meta' as platform, 'click_view_modeled' as reported_basis,
            date '{end}' as delivery_through
        from sizes
    """,
    "entities": """
        select profile_key, level, entity_key, md5(entity_key || 'entity') as entity_id, 'meta' as platform,
            cast(120000000000 + entity_key as varchar) as platform_id, 'Autumn ' || level || ' ' || number as name,
            'ACTIVE' as status, 'OUTCOME_SALES' as objective, case level when 'campaign' then 5000 end
                as daily_budget_minor, 'USD' as budget_currency, cast(null as int) as campaign_key,
            cast(null as int) as ad_set_key, case when level <> 'campaign' then 'Autumn ' || parent end as parent_name,
            'c' || coalesce(parent, number) as campaign_platform_id,
            case level when 'ad_set' then 's' || number when 'ad' then 's' || parent end as ad_set_platform_id
        from entity
    """,
    "delivery_daily": """
        select profile_key, level, day, entity_key, sum(spend) as spend_minor, sum(spend * 3) as impressions,
            sum(spend // 20) as clicks, sum(spend // 25) as link_clicks, null as messaging_conversations_started_7d,
            sum(spend) as video_3s_views, sum(spend // 3) as video_15s_views,
            sum(spend // 2500) as platform_conversions, sum(spend) as platform_conversion_value_minor
        from (select *, 500 + cast(u(row, 'spend') * 4500 as bigint) as spend from shown) join above using (ad)
        group by all
    """,
    "credit_daily": """
        select profile_key, model, level, day, entity_key, '' as custom_type, {counts},
            sum(cast(exp(7 + 2 * u(row, model)) as bigint)) as cash_minor, sum(0) as pipeline_minor
        from shown join above using (ad), (values {models}) as models(model, share)
        where u(row, 'credited by ' || model) < share
        group by all
    """,
}
COUNTED = {"payment_received": "count(*)", "lead_created": "sum(cast(2 * u(row, 'leads') as int))"}
SHARES = {"last_touch": 0.125, "first_touch": 0.125, "last_non_direct": 0.125, "linear": 1, "time_decay": 1}


def write(settings: Settings, *, profiles: Mapping[str, int], seed: int) -> dict[str, int]:
    """Publish these profiles, `profile_id: entity_days` at ad level; gives rows per table that has any."""
    names = {
        "end": END,
        "first": date.fromordinal(END.toordinal() - DAYS + 1),
        "span": DAYS - LIFE + 1,
        "life": LIFE,
        "per_set": ADS_PER_SET,
        "per_campaign": ADS_PER_CAMPAIGN,
        "counts": ", ".join(f"{COUNTED.get(name, 'sum(0)')} as {name}" for name in OUTCOMES),
        "models": ", ".join(f"('{model}', {share})" for model, share in SHARES.items()),
    }
    with duckdb.connect(str(settings.warehouse), config={"storage_compatibility_version": "v1.5.0"}) as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute("create temp table sizes (profile_key int, profile_id varchar, entity_days bigint)")
        rows = [(key, name, days) for key, (name, days) in enumerate(profiles.items(), 1)]
        connection.executemany("insert into sizes values (?, ?, ?)", rows)
        connection.execute(UNIFORM.format(seed=seed))
        for statement in (ADS, DAYS_OF_ADS, ENTITIES, OF_AD):
            connection.execute(statement.format(**names))
        connection.execute("create schema marts")
        for table in served_tables():
            _fill(connection, table, MARTS.get(table.name, "").format(**names))
        connection.execute("drop macro u")
    publication = publish(settings, token=take_token(settings.operational_url), tables=served_tables())
    return {name: count for name, count in publication.rows.items() if count}


def _fill(connection: duckdb.DuckDBPyConnection, table: ServedTable, select: str) -> None:
    columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in table.columns)
    connection.execute(f"create table marts.{quoted(table.name)} ({columns})")
    if select:
        connection.execute(f"insert into marts.{quoted(table.name)} by name {select}")
