{% set dimensions = ['geo', 'placement', 'audience'] %}

with shown as (
    select
        days.window_key,
        ads.entity_key as ad_key,
        parts.dimension,
        parts.value,
        cast(sum(parts.impressions) as bigint) as impressions
    from {{ ref('stg_ad_platform__delivery_breakdowns') }} as parts
    inner join {{ ref('int_profiles') }} as profiles on parts.profile_id = profiles.profile_id
    inner join {{ ref('int_entities') }} as ads
        on profiles.profile_key = ads.profile_key and ads.level = 'ad'
        and parts.platform = ads.platform and parts.ad_id = ads.platform_id
    inner join {{ ref('int_score_days') }} as days
        on profiles.profile_key = days.profile_key and parts.date = days.day
    where parts.impressions > 0
    group by days.window_key, ads.entity_key, parts.dimension, parts.value
),

led as (
    select
        window_key,
        ad_key,
        dimension,
        max_by(value, impressions) as value,
        cast(max(impressions) as double) / cast(sum(impressions) as double) as share
    from shown
    group by window_key, ad_key, dimension
)

select
    led.window_key,
    led.ad_key
    {%- for dimension in dimensions %},
    max(
        case
            when led.dimension = '{{ dimension }}'
                then case when led.share >= constants.majority_share then led.value else 'mixed' end
        end
    ) as {{ dimension }}
    {%- endfor %}
from led
cross join {{ ref('int_score_constants') }} as constants
group by led.window_key, led.ad_key
