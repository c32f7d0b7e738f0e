with accounts as (
    select profile_key, platform, ad_account_id, max(day) as delivered_to
    from {{ ref('int_delivery') }}
    group by profile_key, platform, ad_account_id
),

delivery as (
    select profile_key, min(delivered_to) as through
    from accounts
    group by profile_key
)

select
    p.profile_key,
    {{ uuid_v8('s.profile_id', "'experiment'", "s.platform || ':' || s.platform_study_id") }} as experiment_id,
    s.platform,
    s.platform_study_id,
    s.name,
    s.kind,
    case
        when lower(s.status) in ('canceled', 'cancelled', 'deleted') then 'canceled'
        when lower(s.status) in ('finished', 'completed', 'ended') then 'finished'
        when lower(s.status) in ('planned', 'scheduled', 'draft') then 'planned'
        when coalesce(d.through, cast(s.loaded_at as date)) < s.start_date then 'planned'
        when coalesce(d.through, cast(s.loaded_at as date)) >= s.end_date then 'finished'
        else 'running'
    end as status,
    s.start_date,
    s.end_date,
    s.objective,
    s.platform_lift,
    s.platform_ci_low,
    s.platform_ci_high,
    s.platform_winner_arm_id,
    cast(s.updated_at as timestamp) as platform_computed_at
from {{ ref('stg_ad_platform__experiments') }} as s
inner join {{ ref('int_profiles') }} as p on s.profile_id = p.profile_id
left join delivery as d on p.profile_key = d.profile_key
