{{ config(materialized='view') }}

with numbered as (
    select
        profile_key,
        ad_key,
        day,
        min(day) over (partition by ad_key) as first_day,
        sum(case when impressions > 0 then 1 else 0 end) over (
            partition by ad_key order by day rows between unbounded preceding and current row
        ) as delivery_days
    from {{ ref('int_delivery') }}
    where impressions > 0 or coalesce(spend_minor, 0) > 0
),

ages as (
    select
        spans.window_key,
        numbered.ad_key,
        min(numbered.first_day) as first_day,
        cast(max(numbered.delivery_days) as int) as delivery_days
    from numbered
    inner join {{ ref('int_score_days') }} as days
        on numbered.profile_key = days.profile_key and numbered.day = days.day
    inner join {{ ref('int_score_spans') }} as spans on days.span_key = spans.span_key
    group by spans.window_key, numbered.ad_key
),

primaries as (
    select objective, layer
    from {{ ref('int_score_weights') }}
    where is_primary
)

select
    scores.profile_key,
    windows.as_of,
    scores.ad_key as entity_key,
    ads.ad_account_id,
    groups.cohort_key,
    groups.channel as cohort_channel,
    groups.format as cohort_format,
    groups.objective as cohort_objective,
    groups.warmth as cohort_audience_warmth,
    groups.ads as cohort_n_ads,
    scores.composite_score,
    scores.reliability,
    scores.coverage,
    cast({{ days_between('ages.first_day', 'windows.as_of') }} as int) as age_days,
    ages.delivery_days,
    delivery.spend_minor,
    delivery.impressions,
    delivery.clicks,
    delivery.link_clicks,
    primaries.layer as primary_layer,
    scores.primary_percentile,
    scores.primary_reliability
from {{ ref('int_scores') }} as scores
inner join {{ ref('int_score_windows') }} as windows
    on scores.window_key = windows.window_key and windows.score_window = '28d'
inner join {{ ref('int_score_groups') }} as groups on scores.group_key = groups.group_key
inner join {{ ref('int_entities') }} as ads on scores.ad_key = ads.entity_key
inner join {{ ref('int_score_delivery') }} as delivery
    on scores.window_key = delivery.window_key and scores.ad_key = delivery.ad_key
inner join ages on scores.window_key = ages.window_key and scores.ad_key = ages.ad_key
left join primaries on groups.objective = primaries.objective
