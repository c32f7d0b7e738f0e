{#- A conversion's local date is its UTC date or a neighbour, so three days cover every time zone. -#}
with dated as (
    select currency, date as day from {{ ref('stg_ad_platform__delivery') }}
    union all
    select currency, cast(occurred_at as date) as day from {{ ref('stg_app__conversions') }}
    union all
    select currency, cast(coalesce(processed_at, created_at) as date) as day from {{ ref('stg_store__orders') }}
    union all
    select currency, cast(created_at as date) as day from {{ ref('stg_store__orders') }}
    union all
    select arms.currency, studies.start_date as day
    from {{ ref('stg_ad_platform__experiment_arms') }} as arms
    inner join {{ ref('stg_ad_platform__experiments') }} as studies
        on
            arms.profile_id = studies.profile_id
            and arms.platform = studies.platform
            and arms.platform_study_id = studies.platform_study_id
),

days as (
    select distinct currency, day
    from dated
    where currency is not null
)

{% for step in [-1, 0, 1] -%}
select currency, day + {{ step }} as day
from days
{% if not loop.last -%}
union
{% endif -%}
{% endfor -%}
