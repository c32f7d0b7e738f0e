with accounts as (
    select profile_key, platform, ad_account_id, max(day) as delivered_to
    from {{ ref('int_delivery') }}
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
