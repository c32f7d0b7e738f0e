with arms as (
    select
        *,
        sum(length(entity_ids) - length(replace(entity_ids, ',', '')) + case when entity_ids <> '[]' then 1 else 0 end)
            over (partition by profile_id, platform, platform_study_id, role) as listed
    from {{ ref('stg_ad_platform__experiment_arms') }}
)

select
    s.profile_key,
    s.experiment_id,
    a.arm_id,
    a.role,
    e.level,
    e.entity_key,
    e.campaign_key,
    s.kind = 'split'
    and min(a.arm_id) over (partition by s.profile_key, s.experiment_id, e.entity_key)
    <> max(a.arm_id) over (partition by s.profile_key, s.experiment_id, e.entity_key) as is_shared,
    cast(a.listed as int) as listed
from {{ ref('int_experiments') }} as s
inner join {{ ref('int_profiles') }} as p on s.profile_key = p.profile_key
inner join arms as a
    on p.profile_id = a.profile_id and s.platform = a.platform and s.platform_study_id = a.platform_study_id
inner join {{ ref('int_entities') }} as e
    on s.profile_key = e.profile_key and s.platform = e.platform and a.entity_level = e.level
    and instr(a.entity_ids, '"' || e.platform_id || '"') > 0
