with months as (
    select
        *,
        cast(date_trunc('month', day) as date) as month
    from {{ ref('people_cells_ad') }}
)

select
    profile_key,
    channel,
    origin,
    ad_key,
    month,
    case when prev < month then prev else {{ no_day() }} end as prev,
    cast(sum(case when prev < month then people else 0 end) as int) as people,
    cast(sum(touches) as int) as touches
from months
group by
    profile_key,
    channel,
    origin,
    ad_key,
    month,
    case when prev < month then prev else {{ no_day() }} end
