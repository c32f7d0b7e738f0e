{% set dimensions = ['geo', 'placement', 'audience'] %}

with spans as (
    select
        days.span_key,
        ads.entity_key as ad_key,
        parts.dimension,
        parts.value,
        cast({{ sum_of_days('parts.impressions', 'parts.date', 'days.day') }} as bigint) as impressions
    from {{ ref('stg_ad_platform__delivery_breakdowns') }} as parts
    inner join {{ ref('int_profiles') }} as profiles on parts.profile_id = profiles.profile_id
    inner join {{ ref('int_entities') }} as ads
        on profiles.profile_key = ads.profile_key and ads.level = 'ad'
        and parts.platform = ads.platform and parts.ad_id = ads.platform_id
    inner join {{ ref('int_score_days') }} as days
        on profiles.profile_key = days.profile_key and parts.date = days.day
    where parts.impressions > 0
    group by days.span_key, ads.entity_key, parts.dimension, parts.value
),

shown as (
    select
        windows.window_key,
        spans.ad_key,
        spans.dimension,
        spans.value,
        cast(sum(spans.impressions) as bigint) as impressions
    from spans
    inner join {{ ref('int_score_spans') }} as windows on spans.span_key = windows.span_key
    group by windows.window_key, spans.ad_key, spans.dimension, spans.value
),

led as (
    select
        window_key,
        ad_key
        {%- for dimension in dimensions %}
            {%- set shown = "case when dimension = '" ~ dimension ~ "' then impressions end" %},
            max_by(value, {{ shown }}) as {{ dimension }},
            cast(max({{ shown }}) as double) / cast(sum({{ shown }}) as double) as {{ dimension }}_share
        {%- endfor %}
    from shown
    group by window_key, ad_key
)

select
    led.window_key,
    led.ad_key
    {%- for dimension in dimensions %},
        case
            when led.{{ dimension }}_share >= constants.majority_share then led.{{ dimension }}
            when led.{{ dimension }}_share is not null then 'mixed'
        end as {{ dimension }}
    {%- endfor %}
from led
cross join {{ ref('int_score_constants') }} as constants
