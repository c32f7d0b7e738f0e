with day_ends as (
    select time_zone, local_date, max(ends_at) as ends_at
    from {{ ref('stg_app__calendar') }}
    group by time_zone, local_date
),

days as (
    select profile_key, platform, ad_account_id, day, max({{ epoch_seconds('loaded_at') }}) as loaded_at
    from {{ ref('int_delivery') }}
    group by profile_key, platform, ad_account_id, day
),

-- A day that a pull brought while it ran looks like a day with little spend.
finished as (
    select days.profile_key, days.platform, days.ad_account_id, days.day
    from days
    inner join {{ ref('int_profiles') }} as profiles on days.profile_key = profiles.profile_key
    left join {{ ref('stg_ad_platform__ad_accounts') }} as accounts
        on profiles.profile_id = accounts.profile_id
        and days.platform = accounts.platform
        and days.ad_account_id = accounts.ad_account_id
    left join day_ends as own on accounts.timezone = own.time_zone and days.day = own.local_date
    left join day_ends as usual on profiles.time_zone = usual.time_zone and days.day = usual.local_date
    where coalesce(days.loaded_at >= coalesce(own.ends_at, usual.ends_at), true)
),

accounts as (
    select profile_key, platform, ad_account_id, max(day) as delivered_to
    from finished
    group by profile_key, platform, ad_account_id
),

newest as (
    select
        profile_key,
        platform,
        ad_account_id,
        delivered_to,
        max(delivered_to) over (partition by profile_key) as profile_newest,
        max(delivered_to) over (partition by profile_key, platform) as platform_newest
    from accounts
)

select
    profile_key,
    platform,
    ad_account_id,
    delivered_to,
    {{ days_between('delivered_to', 'profile_newest') }} > {{ var('ended_account_days') }} as has_ended_in_profile,
    {{ days_between('delivered_to', 'platform_newest') }} > {{ var('ended_account_days') }} as has_ended_on_platform
from newest
