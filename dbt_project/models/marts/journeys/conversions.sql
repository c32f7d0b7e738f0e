{{ by_conversion() }}

with conversions as (
    select * from {{ changed_conversions('int_conversions') }}
),

people as (
    select distinct person_key, person_id from {{ ref('int_person_identifiers') }}
)

select
    conversions.profile_key,
    conversions.day,
    conversions.conversion_id,
    conversions.conversion_key,
    conversions.outcome_ref as conversion_ref,
    names.outcome_event_id,
    names.event_key,
    names.source,
    conversions.person_key,
    people.person_id as person_ref,
    conversions.is_shared,
    conversions.conversion_type,
    conversions.ts,
    {{ timestamp_of('conversions.ts') }} as occurred_at,
    conversions.revenue_type = 'cash' as is_cash,
    conversions.revenue_type,
    cast(conversions.cash_minor as bigint) as cash_minor,
    cast(conversions.refunded_minor as bigint) as refunded_minor,
    cast(conversions.pipeline_minor as bigint) as pipeline_minor,
    conversions.unrated_through,
    conversions.path_conversion_key,
    case when firsts.conversion_key <> conversions.conversion_key then firsts.conversion_id end as inherited_from,
    coalesce(paths.n, 0) as touches
    {%- for model in credit_models() %},
    campaigns.{{ model.name }}_campaign
    {%- endfor %}
from conversions
inner join {{ ref('int_outcome_names') }} as names on conversions.conversion_key = names.conversion_key
left join people on conversions.person_key = people.person_key
left join {{ ref('int_conversions') }} as firsts on conversions.path_conversion_key = firsts.conversion_key
left join {{ ref('int_paths') }} as paths on conversions.path_conversion_key = paths.conversion_key
left join {{ ref('int_credit_campaigns') }} as campaigns on conversions.path_conversion_key = campaigns.conversion_key
