select
    p.profile_key,
    {{ uuid_v8('s.profile_id', "'experiment'", "s.platform || ':' || s.platform_study_id") }} as experiment_id,
    s.platform,
    s.platform_study_id,
    s.name,
    s.kind,
    case
        when {{ lower_of('s.status') }} in ('canceled', 'cancelled', 'deleted') then 'canceled'
        when {{ lower_of('s.status') }} in ('finished', 'completed', 'ended') then 'finished'
        when {{ lower_of('s.status') }} in ('planned', 'scheduled', 'draft') then 'planned'
        when coalesce(p.delivery_through, cast(s.loaded_at as date)) < s.start_date then 'planned'
        when coalesce(p.delivery_through, cast(s.loaded_at as date)) >= s.end_date then 'finished'
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
inner join {{ ref('profiles') }} as p on s.profile_id = p.profile_id
