{% set last_touch = (credit_models() | selectattr('name', 'equalto', 'last_touch') | first).bit %}

with wanted as (
    select
        t.profile_key,
        t.experiment_id,
        t.arm_id,
        t.entity_key,
        t.is_shared,
        case coalesce(g.objective_group, objectives.objective_group)
            when 'leads' then 'lead_created'
            when 'messaging' then 'dm_started'
            else 'payment_received'
        end as conversion_type
    from {{ ref('int_experiment_entities') }} as t
    inner join {{ ref('int_profiles') }} as p on t.profile_key = p.profile_key
    inner join {{ ref('int_entities') }} as c on t.campaign_key = c.entity_key
    left join {{ ref('stg_ad_platform__campaigns') }} as g
        on p.profile_id = g.profile_id and c.platform = g.platform and c.platform_id = g.campaign_id
    left join {{ ref('objectives') }} as objectives
        on {{ lower_of('g.objective') }} = {{ lower_of('objectives.objective') }}
),

known as (
    select distinct profile_key, experiment_id, arm_id
    from wanted
),

-- Leads of one arm are not to be held against payments of another, nor outcomes of ads that both show.
mixed as (
    select profile_key, experiment_id
    from wanted
    group by profile_key, experiment_id
    having min(conversion_type) <> max(conversion_type) or max(case when is_shared then 1 else 0 end) = 1
),

reached as (
    {% for level in entity_levels() -%}
    select destination_key, {{ level.key }} as entity_key
    from {{ ref('int_destinations') }}
    where {{ level.key }} is not null
    {{ 'union all' if not loop.last }}
    {% endfor %}
),

credited as (
    select w.profile_key, w.experiment_id, w.arm_id, count(*) as outcomes
    from wanted as w
    inner join {{ ref('int_experiments') }} as s
        on w.profile_key = s.profile_key and w.experiment_id = s.experiment_id
    inner join reached as r on w.entity_key = r.entity_key
    inner join {{ ref('int_credits') }} as credits
        on r.destination_key = credits.destination_key and credits.flags & {{ last_touch }} <> 0
    inner join {{ ref('int_conversions') }} as o
        on credits.conversion_key = o.path_conversion_key
        and w.conversion_type = case when o.revenue_type = 'cash' then 'payment_received' else o.conversion_type end
        and s.start_date <= o.day and (s.end_date is null or s.end_date >= o.day)
    group by w.profile_key, w.experiment_id, w.arm_id
)

select
    s.profile_key,
    s.experiment_id,
    a.arm_id,
    a.name,
    a.role,
    a.entity_level,
    a.entity_ids,
    a.population,
    a.conversions,
    case
        when
            mixed.experiment_id is null
            and known.arm_id is not null
            and (s.kind = 'split' or a.role <> 'control')
            then coalesce(k.outcomes, 0)
    end as attributed_outcomes,
    {{ minor_units('a.spend', 'r.rate', 'p.currency_digits') }} as spend_minor
from {{ ref('int_experiments') }} as s
inner join {{ ref('int_profiles') }} as p on s.profile_key = p.profile_key
inner join {{ ref('stg_ad_platform__experiment_arms') }} as a
    on p.profile_id = a.profile_id and s.platform = a.platform and s.platform_study_id = a.platform_study_id
left join credited as k
    on s.profile_key = k.profile_key and s.experiment_id = k.experiment_id and a.arm_id = k.arm_id
left join known
    on s.profile_key = known.profile_key and s.experiment_id = known.experiment_id and a.arm_id = known.arm_id
left join mixed on s.profile_key = mixed.profile_key and s.experiment_id = mixed.experiment_id
left join {{ ref('int_fx_rates') }} as r
    on s.start_date = r.day and a.currency = r.base and p.currency = r.quote
