{% set what = ['platform', 'reason', 'landing_host', 'utm_source', 'utm_medium', 'utm_campaign', 'click_id_type'] %}

with stacked as (
    select
        profile_key,
        day,
        {{ what | join(', ') }},
        1 as clicks,
        0 as conversions,
        cast(0 as bigint) as cash_minor
    from {{ ref('int_paid_clicks') }}

    union all

    select
        outcomes.profile_key,
        outcomes.day,
        {% for column in what %}
            clicks.{{ column }},
        {% endfor %}
        0 as clicks,
        1 as conversions,
        coalesce(outcomes.cash_minor, 0) as cash_minor
    from {{ ref('int_conversions') }} as outcomes
    inner join {{ ref('int_paths') }} as paths on outcomes.path_conversion_key = paths.conversion_key
    inner join {{ ref('int_paid_clicks') }} as clicks
        on
            paths.person_key = clicks.person_key
            and paths.p_last = clicks.pos_l
)

select
    profile_key,
    day,
    {{ what | join(', ') }},
    cast(sum(clicks) as int) as clicks,
    cast(sum(conversions) as int) as conversions,
    cast(sum(cash_minor) as bigint) as cash_minor
from stacked
group by profile_key, day, {{ what | join(', ') }}
