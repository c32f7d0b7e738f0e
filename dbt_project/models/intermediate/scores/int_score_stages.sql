{% set figures = [
    'window_key', 'ad_key', 'group_key', 'config_version', 'composite_score', 'reliability', 'coverage',
    'engagement_percentile', 'delivery_days', 'spend_minor', 'impressions', 'clicks', 'link_clicks', 'cash_outcomes',
    'cash_minor', 'outcomes', 'pipeline_outcomes', 'pipeline_minor', 'platform_reported_conversions',
    'platform_conversion_value_minor', 'messaging_conversations_started_7d', 'messaging_first_replies'
] %}

with lives as (
    select delivery.ad_key, delivery.delivery_days
    from {{ ref('int_score_delivery') }} as delivery
    inner join {{ ref('int_score_windows') }} as windows
        on delivery.window_key = windows.window_key and windows.score_window = 'lifetime'
),

judged as (
    select
        scores.*,
        lives.delivery_days,
        delivery.spend_minor,
        delivery.impressions,
        delivery.clicks,
        delivery.link_clicks,
        delivery.platform_conversions as platform_reported_conversions,
        delivery.platform_conversion_value_minor,
        delivery.messaging_conversations_started_7d,
        delivery.messaging_first_replies,
        coalesce(credits.cash_minor, 0) as cash_minor,
        coalesce(credits.pipeline_minor, 0) as pipeline_minor,
        coalesce(delivery.messaging_conversations_started_7d, 0) as conversations,
        coalesce(delivery.platform_conversions, 0) as platform_conversions,
        coalesce(credits.cash_outcomes, 0) as cash_outcomes,
        coalesce(credits.pipeline_outcomes, 0) as pipeline_outcomes,
        coalesce(credits.dm_started, 0) as dm_started,
        coalesce(credits.outcomes, 0) as outcomes,
        proofs.entity_key is not null as is_proven,
        constants.*,
        case groups.objective
            when 'sales' then coalesce(credits.cash_outcomes, 0)
            when 'leads' then coalesce(credits.pipeline_outcomes, 0)
            when 'messaging' then coalesce(delivery.messaging_conversations_started_7d, 0)
            when 'traffic' then delivery.click_events / constants.clicks_per_outcome
            when 'awareness' then delivery.impressions / constants.impressions_per_outcome
        end as primary_outcomes
    from {{ ref('int_scores') }} as scores
    inner join {{ ref('int_score_groups') }} as groups on scores.group_key = groups.group_key
    inner join {{ ref('int_score_delivery') }} as delivery
        on scores.window_key = delivery.window_key and scores.ad_key = delivery.ad_key
    inner join lives on scores.ad_key = lives.ad_key
    left join {{ ref('int_score_credits') }} as credits
        on scores.window_key = credits.window_key and scores.ad_key = credits.ad_key
    left join {{ ref('int_lift_proofs') }} as proofs
        on scores.profile_key = proofs.profile_key and scores.ad_key = proofs.entity_key
    cross join {{ ref('int_score_constants') }} as constants
)

select
    {% for figure in figures -%}
        {{ figure }},
    {% endfor -%}
    case
        when composite_score is null or reliability < cold_reliability or delivery_days < cold_days then 'cold'
        when reliability < early_reliability or delivery_days < early_days then 'early'
        when
            reliability >= calibrated_reliability and delivery_days >= calibrated_days
            and primary_outcomes >= calibrated_outcomes and coverage >= calibrated_coverage
            then 'calibrated'
        else 'mature'
    end as maturity_stage,
    case
        when is_proven then 'lift'
        when outcomes > 0 then 'attributed'
        else 'predicted'
    end as truth_grade,
    case
        when cash_outcomes > 0 then 'cash'
        when pipeline_outcomes > 0 then 'pipeline'
        when dm_started > 0 or conversations > 0 then 'messaging'
        when platform_conversions > 0 then 'platform'
        else 'none'
    end as primary_outcome_kind
from judged
-- the order in which scores are published
order by window_key, ad_key
