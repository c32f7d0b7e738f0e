{# int_score_stages with words for numbers: the publication writes them, and reads this once more than it writes #}
{{ config(materialized='view') }}

select
    windows.profile_key,
    cast(windows.score_window as {{ dbt.type_string() }}) as score_window,
    scores.ad_key as entity_key,
    windows.as_of as score_date,
    windows.day_from,
    scores.config_version,
    scores.composite_score,
    scores.reliability,
    scores.coverage,
    scores.delivery_days,
    cast(scores.maturity_stage as {{ dbt.type_string() }}) as maturity_stage,
    cast(scores.truth_grade as {{ dbt.type_string() }}) as truth_grade,
    cast(scores.primary_outcome_kind as {{ dbt.type_string() }}) as primary_outcome_kind,
    groups.cohort_key,
    groups.channel as cohort_channel,
    groups.format as cohort_format,
    groups.objective as cohort_objective,
    groups.warmth as cohort_audience_warmth,
    groups.ads as cohort_n_ads,
    scores.spend_minor,
    scores.impressions,
    scores.clicks,
    scores.link_clicks,
    scores.cash_outcomes as attributed_cash_outcomes,
    scores.cash_minor as attributed_revenue_minor,
    scores.outcomes as attributed_outcomes_total,
    scores.pipeline_outcomes as attributed_pipeline_outcomes,
    scores.pipeline_minor as attributed_pipeline_value_minor,
    scores.platform_reported_conversions,
    scores.platform_conversion_value_minor as platform_reported_conversion_value_minor,
    scores.messaging_conversations_started_7d as messaging_conversations_started,
    scores.messaging_first_replies,
    scores.engagement_percentile as avg_engagement_score
from {{ ref('int_score_stages') }} as scores
inner join {{ ref('int_score_windows') }} as windows
    on scores.window_key = windows.window_key and windows.is_current
inner join {{ ref('int_score_groups') }} as groups on scores.group_key = groups.group_key
