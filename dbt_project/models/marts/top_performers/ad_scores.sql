select
    windows.profile_key,
    cast(windows.score_window as {{ dbt.type_string() }}) as score_window,
    scores.ad_key as entity_key,
    windows.as_of as score_date,
    windows.day_from,
    constants.config_version,
    scores.composite_score,
    scores.reliability,
    scores.coverage,
    stages.delivery_days,
    cast(stages.maturity_stage as {{ dbt.type_string() }}) as maturity_stage,
    cast(stages.truth_grade as {{ dbt.type_string() }}) as truth_grade,
    cast(stages.primary_outcome_kind as {{ dbt.type_string() }}) as primary_outcome_kind,
    groups.cohort_key,
    groups.channel as cohort_channel,
    groups.format as cohort_format,
    groups.objective as cohort_objective,
    groups.warmth as cohort_audience_warmth,
    groups.ads as cohort_n_ads,
    delivery.spend_minor,
    delivery.impressions,
    delivery.clicks,
    delivery.link_clicks,
    coalesce(credits.cash_outcomes, 0) as attributed_cash_outcomes,
    coalesce(credits.cash_minor, 0) as attributed_revenue_minor,
    coalesce(credits.outcomes, 0) as attributed_outcomes_total,
    coalesce(credits.pipeline_outcomes, 0) as attributed_pipeline_outcomes,
    coalesce(credits.pipeline_minor, 0) as attributed_pipeline_value_minor,
    delivery.platform_conversions as platform_reported_conversions,
    delivery.platform_conversion_value_minor as platform_reported_conversion_value_minor,
    delivery.messaging_conversations_started_7d as messaging_conversations_started,
    delivery.messaging_first_replies,
    scores.engagement_percentile as avg_engagement_score
from {{ ref('int_scores') }} as scores
inner join {{ ref('int_score_windows') }} as windows
    on scores.window_key = windows.window_key and windows.is_current
inner join {{ ref('int_score_groups') }} as groups on scores.group_key = groups.group_key
inner join {{ ref('int_score_stages') }} as stages
    on scores.window_key = stages.window_key and scores.ad_key = stages.ad_key
inner join {{ ref('int_score_delivery') }} as delivery
    on scores.window_key = delivery.window_key and scores.ad_key = delivery.ad_key
left join {{ ref('int_score_credits') }} as credits
    on scores.window_key = credits.window_key and scores.ad_key = credits.ad_key
cross join {{ ref('int_score_constants') }} as constants
