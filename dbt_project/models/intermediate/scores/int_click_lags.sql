{% set last_touch = (credit_models() | selectattr('name', 'equalto', 'last_touch') | first).bit %}

with clicked as (
    select
        profiles.profile_key,
        profiles.workspace_id,
        cast(floor(cast(conversions.ts - paths.newest_ts as double) / 86400 + 0.5) as int) as lag_days,
        count(*) as conversions
    from {{ ref('int_conversions') }} as conversions
    inner join {{ ref('int_profiles') }} as profiles on conversions.profile_key = profiles.profile_key
    inner join {{ ref('int_paths') }} as paths on conversions.conversion_key = paths.conversion_key
    inner join {{ ref('int_credits') }} as credits
        on paths.conversion_key = credits.conversion_key and credits.flags & {{ last_touch }} <> 0
    inner join {{ ref('int_destinations') }} as destinations
        on credits.destination_key = destinations.destination_key and destinations.ad_key is not null
    group by
        profiles.profile_key,
        profiles.workspace_id,
        cast(floor(cast(conversions.ts - paths.newest_ts as double) / 86400 + 0.5) as int)
),

own as (
    select profile_key, sum(conversions) as n
    from clicked
    group by profile_key
),

pools as (
    select workspace_id, sum(conversions) as n
    from clicked
    group by workspace_id
)

select clicked.profile_key, clicked.lag_days, cast(clicked.conversions as bigint) as conversions
from clicked
inner join own on clicked.profile_key = own.profile_key
cross join {{ ref('int_score_constants') }} as constants
where own.n >= constants.least_lag_conversions
union all
select profiles.profile_key, clicked.lag_days, cast(sum(clicked.conversions) as bigint) as conversions
from {{ ref('int_profiles') }} as profiles
inner join pools on profiles.workspace_id = pools.workspace_id
inner join clicked on profiles.workspace_id = clicked.workspace_id
left join own on profiles.profile_key = own.profile_key
cross join {{ ref('int_score_constants') }} as constants
where coalesce(own.n, 0) < constants.least_lag_conversions and pools.n >= constants.least_lag_conversions
group by profiles.profile_key, clicked.lag_days
