{{ config(meta={
    'description': 'Credited and unattributed cash are all cash, to the cent, under every model.',
    'dagster': {'ref': {'name': 'credit_daily'}}
}) }}

-- Rows + unattributed = the profile's net cash, to the minor unit and the day, for every model and level; the five
-- totals are equal because each equals the same sum. Also: no cash is negative.
with marts as (
    select profile_key, model, level, day, cash_minor from {{ ref('credit_daily') }}
    union all
    select profile_key, model, level, day, cash_minor from {{ ref('unattributed_daily') }}
),

models as (
    {% for model in credit_models() %}{% for level in entity_levels() -%}
        select '{{ model.name }}' as model, '{{ level.name }}' as level
        {{ 'union all' if not loop.last }}
    {% endfor %}
    {{ 'union all' if not loop.last }}
    {% endfor %}
),

outcomes as (
    select profile_key, day, sum(cash_minor) as cash_minor
    from {{ ref('outcomes_daily') }}
    group by profile_key, day
),

added as (
    select
        outcomes.profile_key,
        outcomes.day,
        models.model,
        models.level,
        outcomes.cash_minor as all_cash,
        coalesce(sum(marts.cash_minor), 0) as added_cash,
        coalesce(min(marts.cash_minor), 0) as least_cash
    from outcomes
    cross join models
    left join marts
        on
            outcomes.profile_key = marts.profile_key
            and outcomes.day = marts.day
            and models.model = marts.model
            and models.level = marts.level
    group by outcomes.profile_key, outcomes.day, models.model, models.level, outcomes.cash_minor
)

select * from added
where all_cash <> added_cash or least_cash < 0

union all

-- Cash on a day without outcomes would be missed above.
select profile_key, day, model, level, 0 as all_cash, cash_minor as added_cash, 0 as least_cash
from marts
where not exists (
    select 1 from outcomes
    where outcomes.profile_key = marts.profile_key and outcomes.day = marts.day
)
