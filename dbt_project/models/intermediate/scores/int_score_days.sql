with days as (
    select profile_key, day
    from {{ ref('int_delivery') }}
    union
    select profile_key, day
    from {{ ref('int_conversions') }}
),

spans as (
    select distinct span_key, profile_key, as_of, day_from, day_to
    from {{ ref('int_score_spans') }}
),

spread as (
    select
        spans.span_key,
        spans.profile_key,
        days.day,
        {{ days_between('days.day', 'spans.as_of') }} as lag_days
    from spans
    inner join days
        on spans.profile_key = days.profile_key and spans.day_from <= days.day and spans.day_to >= days.day
),

-- the lags that are asked for stand among those that were seen, so that a lag between two of these has its share too
lags as (
    select profile_key, lag_days, conversions
    from {{ ref('int_click_lags') }}
    union all
    select distinct profile_key, lag_days, 0
    from spread
),

shares as (
    select
        profile_key,
        lag_days,
        sum(sum(conversions)) over (partition by profile_key order by lag_days) as arrived,
        sum(sum(conversions)) over (partition by profile_key) as everything
    from lags
    group by profile_key, lag_days
)

select
    spread.span_key,
    spread.profile_key,
    spread.day,
    case
        when shares.everything > 0 then cast(shares.arrived as double) / cast(shares.everything as double)
        else 1
    end as matured_share
from spread
inner join shares on spread.profile_key = shares.profile_key and spread.lag_days = shares.lag_days
