"""A warehouse as it stands before the score models run: ads, their days and their credit, made by SQL from a seed.

Every number is a function of its row and the seed, so a world is the same on every machine and with any threads.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

DAYS = 90
ADS_PER_PROFILE = 2_000
END = "date '2026-11-15'"

# uniform in 0 to 1 from a row's number and the name of what is drawn
UNIFORM = "create macro u(n, name) as ((hash(n, name, {seed}) >> 12) / 4503599627370496.0)"

TABLES = {
    "marts.profiles": """
        select cast(p as int) as profile_key, {end} as delivery_through
        from range({profiles}) t(p)
    """,
    "intermediate.int_profiles": """
        select cast(p as int) as profile_key, 'p' || p as profile_id, 'w' || (p // 10) as workspace_id
        from range({profiles}) t(p)
    """,
    "intermediate.ads": """
        select cast(i as int) as ad_key, cast(i // {per_profile} as int) as profile_key, i // 40 as campaign,
            i // 8 as ad_set, 1 + cast(u(i, 'life') * u(i, 'life') * 66 as int) as life,
            greatest(cast((u(i, 'end') - 0.7) * 3 * {days} as int), 0) as gone, exp(u(i, 'quality') - 0.5) as quality,
            500 + cast(u(i, 'spend') * 4500 as int) as daily
        from range({ads}) t(i)
    """,
    "intermediate.int_entities": """
        select ad_key as entity_key, profile_key, 'ad' as level, 'meta' as platform, 'a' || ad_key as platform_id,
            'c' || campaign as campaign_platform_id, 's' || ad_set as ad_set_platform_id,
            'a' || profile_key as ad_account_id
        from intermediate.ads
    """,
    "staging.stg_ad_platform__campaigns": """
        select distinct 'p' || profile_key as profile_id, 'meta' as platform, 'c' || campaign as campaign_id,
            cast(null as varchar) as objective,
            ['sales', 'sales', 'leads', 'messaging', 'traffic', 'awareness'][1 + campaign % 6] as objective_group
        from intermediate.ads
    """,
    "staging.stg_ad_platform__ad_sets": """
        select distinct 'p' || profile_key as profile_id, 'meta' as platform, 's' || ad_set as ad_set_id,
            ['cold', 'cold', 'warm', 'hot'][1 + ad_set % 4] as audience_warmth
        from intermediate.ads
    """,
    "marts.ad_creatives": """
        select profile_key, ad_key as entity_key, ['video', 'video', 'image', 'carousel'][1 + ad_key % 4] as format
        from intermediate.ads
    """,
    "marts.entity_reach": """
        select 0 as profile_key, 'ad' as level, 0 as entity_key, {end} as date_from, {end} as date_to,
            cast(1 as bigint) as reach
    """,
    "intermediate.int_lift_proofs": """
        select profile_key, ad_key as entity_key from intermediate.ads where ad_key % 1000 = 0
    """,
    "intermediate.shown": """
        select ads.*, cast({end} - cast(gone + n as int) as date) as day, ad_key * 1000 + n as row,
            cast(daily * (0.5 + u(ad_key * 1000 + n, 'day')) as bigint) as spend_minor
        from intermediate.ads as ads, range(67) r(n)
        where n < life
    """,
    "intermediate.int_delivery": """
        select profile_key, day, ad_key, spend_minor, impressions, link_clicks + 2 as clicks, link_clicks,
            video_3s_views, cast(video_3s_views * 0.4 * u(row, '15s') as bigint) as video_15s_views,
            cast(impressions * 0.01 * u(row, 'likes') as bigint) as reactions, cast(0 as bigint) as comments,
            cast(0 as bigint) as shares, cast(0 as bigint) as saves,
            case when campaign % 6 = 3 then cast(spend_minor / 400 * u(row, 'chat') * quality as bigint) end
                as messaging_conversations_started_7d,
            case when campaign % 6 = 3 then cast(spend_minor / 800 * u(row, 'chat') as bigint) end
                as messaging_first_replies,
            cast(cast(u(row, 'claims') * spend_minor / 2500 * quality as int) as decimal(18, 4))
                as platform_conversions,
            cast(0 as bigint) as platform_conversion_value_minor
        from (
            select *, cast(impressions * 0.015 * quality * u(row, 'click') as bigint) as link_clicks,
                case when ad_key % 4 < 2 then cast(impressions * 0.4 * u(row, '3s') as bigint) end as video_3s_views
            from (select *, cast(spend_minor * (0.6 + 0.8 * u(row, 'cpm')) as bigint) as impressions
                from intermediate.shown)
        )
        order by ad_key, day
    """,
    "staging.stg_ad_platform__delivery_breakdowns": """
        select 'p' || profile_key as profile_id, 'meta' as platform, 'a' || ad_key as ad_id, day as date, dimension,
            case when dimension = 'geo' then ['us', 'us', 'mx', 'de'][1 + ad_set % 4]
                else ['feed', 'stories', 'reels'][1 + ad_key % 3] end as value,
            impressions
        from intermediate.int_delivery join (select ad_key, ad_set from intermediate.ads) using (ad_key),
            (values ('geo'), ('placement')) d(dimension)
        where day > {end} - {split_days}
    """,
    "intermediate.orders": """
        select row_number() over (order by row) as conversion_key, profile_key, ad_key, row,
            cast(day + cast(floor(-3 * ln(1 - u(row, 'lag'))) as int) as date) as day,
            u(row, 'kind') < 0.4 as is_cash, cast(exp(8 + u(row, 'worth')) as bigint) as cents
        from intermediate.shown
        where u(row, 'sold') < 0.15 * quality
    """,
    "intermediate.int_conversions": """
        select cast(conversion_key as int) as conversion_key, cast(conversion_key as int) as path_conversion_key,
            profile_key, day, epoch(day) as ts, case when is_cash then 'payment_received' else 'lead_created' end
                as conversion_type,
            case when is_cash then 'cash' else 'pipeline' end as revenue_type
        from intermediate.orders
    """,
    "intermediate.int_paths": """
        select cast(conversion_key as int) as conversion_key,
            epoch(day) - floor(-3 * ln(1 - u(row, 'lag'))) * 86400 as newest_ts
        from intermediate.orders
    """,
    "intermediate.int_credits": """
        select cast(conversion_key as int) as conversion_key, ad_key as destination_key, cast(7 as smallint) as flags
        from intermediate.orders
    """,
    "intermediate.int_destinations": "select ad_key as destination_key, ad_key from intermediate.ads",
    "intermediate.int_credit_cents": """
        select cast(conversion_key as int) as conversion_key, model, ad_key as destination_key, cents
        from intermediate.orders, (values ('last_touch'), ('linear')) m(model)
        where is_cash
    """,
    "intermediate.int_credit_days": """
        select profile_key, day, '' as custom_type, case when is_cash then 6 else 5 end as outcome,
            ad_key as destination_key, cast(sum(cents) filter (is_cash) as bigint) as last_touch
        from intermediate.orders
        group by all
    """,
    "marts.credit_daily": """
        select profile_key, 'last_touch' as model, 'ad' as level, day, ad_key as entity_key, '' as custom_type,
            cast(0 as int) as appointment_attended, cast(0 as int) as appointment_booked, cast(0 as int) as closed_won,
            cast(0 as int) as dm_started, cast(count(*) filter (not is_cash) as int) as lead_created,
            cast(count(*) filter (is_cash) as int) as payment_received, cast(0 as int) as quote_presented,
            cast(0 as int) as custom_cash, cast(0 as int) as custom_pipeline, cast(0 as int) as custom_gross,
            cast(coalesce(sum(cents) filter (is_cash), 0) as bigint) as cash_minor, cast(0 as bigint) as pipeline_minor
        from intermediate.orders
        group by profile_key, day, ad_key
    """,
}


def write(warehouse: Path, *, ads: int, split_days: int, seed: int) -> dict[str, int]:
    """Make the tables that the score models read; `split_days` = days that geo and placement are known for.

    Returns how many ads, ad-days, splits and conversions there are.
    """
    sizes = {
        "ads": ads,
        "profiles": -(-ads // ADS_PER_PROFILE),
        "per_profile": ADS_PER_PROFILE,
        "days": DAYS,
        "split_days": split_days,
        "end": END,
    }
    with duckdb.connect(str(warehouse), config={"storage_compatibility_version": "v1.5.0"}) as connection:
        for schema in ("staging", "intermediate", "marts"):
            connection.execute(f"create schema if not exists {schema}")
        connection.execute(UNIFORM.format(seed=seed))
        for name, sql in TABLES.items():
            connection.execute(f"create table {name} as {sql.format(**sizes)}")
        connection.execute("drop macro u")
        counted = {
            "ads": "intermediate.ads",
            "ad-days": "intermediate.int_delivery",
            "splits": "staging.stg_ad_platform__delivery_breakdowns",
            "conversions": "intermediate.orders",
        }
        return {
            what: int((connection.execute(f"select count(*) from {table}").fetchone() or (0,))[0])
            for what, table in counted.items()
        }
