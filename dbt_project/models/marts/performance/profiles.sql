with freshness as (
    select profile_key, min(loaded_at) as data_as_of
    from {{ ref('int_source_watermarks') }}
    group by profile_key
),

delivery as (
    select profile_key, min(delivered_to) as delivery_through
    from {{ ref('int_account_days') }}
    where not has_ended_in_profile
    group by profile_key
)

select
    p.profile_key,
    p.profile_id,
    p.time_zone,
    p.currency,
    p.currency_digits,
    cast(p.settings_version as {{ dbt.type_string() }}) as settings_version,
    p.lookback_days,
    p.half_life_days,
    d.delivery_through,
    cast(f.data_as_of as timestamp) as data_as_of
from {{ ref('int_profiles') }} as p
left join freshness as f on p.profile_key = f.profile_key
left join delivery as d on p.profile_key = d.profile_key
