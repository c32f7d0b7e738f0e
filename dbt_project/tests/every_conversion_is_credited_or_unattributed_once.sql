{{ config(meta={
    'description': 'A single-touch model credits each conversion once, or leaves it unattributed.',
    'dagster': {'ref': {'name': 'credit_daily'}}
}) }}

-- Under every single-touch model and level, per type and day: conversions credited to an entity, to one at most, +
-- unattributed ones = all of them.
with {{ counts_told() }},

conversions as (
    select profile_key, day, outcome as conversion_type, count(*) as n
    from {{ ref('int_conversions') }}
    group by profile_key, day, outcome
),

models as (
    {% for model in credit_models() if model.bit -%}
        {% set is_last = loop.last -%}
        {% for level in entity_levels() -%}
            select '{{ model.name }}' as model, '{{ level.name }}' as level
            {{ 'union all' if not (is_last and loop.last) }}
        {% endfor %}
    {% endfor %}
)

select conversions.*, models.model, models.level, added.row_n, added.rest_n
from conversions
cross join models
left join added
    on
        conversions.profile_key = added.profile_key
        and conversions.day = added.day
        and conversions.conversion_type = added.conversion_type
        and models.model = added.model
        and models.level = added.level
where coalesce(added.row_n, 0) + coalesce(added.rest_n, 0) <> conversions.n
