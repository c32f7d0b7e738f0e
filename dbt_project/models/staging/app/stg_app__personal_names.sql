{% set kinds = ['external_id', 'email', 'phone', 'anonymous_id'] %}

{{ compared(['profile_id', 'kind', 'value', 'event_origin', 'told_at', 'name_key', 'first_name', 'last_name']) }}

with {{ versions(source('lake', 'personal_names'), ['_profile_id', 'name_key']) }},

told as (
    {%- for kind in kinds %}
    select
        _profile_id as profile_id,
        '{{ kind }}' as kind,
        {{ kind }} as value,
        event_origin,
        told_at,
        name_key,
        first_name,
        last_name
    from ranked
    where
        recency = 1 and not _deleted
        and {{ kind }} is not null and (first_name is not null or last_name is not null)
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

newest as (
    select
        *,
        row_number() over (
            partition by profile_id, kind, value, event_origin
            order by told_at desc, name_key asc
        ) as age
    from told
)

select
    profile_id,
    kind,
    value,
    event_origin,
    told_at,
    name_key,
    first_name,
    last_name
from newest
where age = 1
