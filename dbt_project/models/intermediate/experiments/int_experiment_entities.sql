with arms as (
    select
        *,
        sum(length(entity_ids) - length(replace(entity_ids, ',', '')) + case when entity_ids <> '[]' then 1 else 0 end)
            over (partition by profile_id, platform, platform_study_id, role) as listed
    from {{ ref('stg_ad_platform__experiment_arms') }}
),

named as (
    select
        s.profile_key,
        s.experiment_id,
        s.kind,
        a.arm_id,
        a.role,
        e.level,
        e.entity_key,
        e.ad_set_key,
        e.campaign_key,
        cast(a.listed as int) as listed
    from {{ ref('int_experiments') }} as s
    inner join {{ ref('int_profiles') }} as p on s.profile_key = p.profile_key
    inner join arms as a
        on p.profile_id = a.profile_id and s.platform = a.platform and s.platform_study_id = a.platform_study_id
    inner join {{ ref('int_entities') }} as e
        on s.profile_key = e.profile_key and s.platform = e.platform and a.entity_level = e.level
        and instr(a.entity_ids, '"' || e.platform_id || '"') > 0
),

-- An ad of one arm in a campaign that is another arm's brings both the same outcomes.
shared as (
    select distinct
        one.profile_key,
        one.experiment_id,
        one.arm_id,
        one.entity_key
    from named as one
    inner join named as other
        on
            one.profile_key = other.profile_key
            and one.experiment_id = other.experiment_id
            and one.arm_id <> other.arm_id
            and (
                one.entity_key in (other.entity_key, other.ad_set_key, other.campaign_key)
                or other.entity_key in (one.ad_set_key, one.campaign_key)
            )
    where one.kind = 'split'
)

select
    named.profile_key,
    named.experiment_id,
    named.arm_id,
    named.role,
    named.level,
    named.entity_key,
    named.campaign_key,
    shared.entity_key is not null as is_shared,
    named.listed
from named
left join shared
    on
        named.profile_key = shared.profile_key
        and named.experiment_id = shared.experiment_id
        and named.arm_id = shared.arm_id
        and named.entity_key = shared.entity_key
