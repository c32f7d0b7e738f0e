with layers as (
    select
        window_key,
        ad_key,
        cast({{ exact_sum('weight') }} as double) as coverage,
        cast({{ exact_sum('weight * percentile') }} as double) as weighted_percentile,
        cast({{ exact_sum('weight * reliability') }} as double) as weighted_reliability,
        max(case when is_primary then percentile end) as primary_percentile,
        max(case when is_primary then reliability end) as primary_reliability,
        max(case when layer_no = 4 then percentile end) as engagement_percentile
    from {{ ref('int_score_percentiles') }}
    group by window_key, ad_key
)

select
    cohorts.window_key,
    cohorts.ad_key,
    cohorts.profile_key,
    groups.group_key,
    layers.weighted_percentile / nullif(layers.coverage, 0) as composite_score,
    layers.weighted_reliability / nullif(layers.coverage, 0) as reliability,
    nullif(layers.coverage, 0) as coverage,
    layers.primary_percentile,
    layers.primary_reliability,
    layers.engagement_percentile
from {{ ref('int_score_cohorts') }} as cohorts
inner join {{ ref('int_score_groups') }} as groups
    on cohorts.window_key = groups.window_key and cohorts.cohort_key = groups.cohort_key
left join layers on cohorts.window_key = layers.window_key and cohorts.ad_key = layers.ad_key
