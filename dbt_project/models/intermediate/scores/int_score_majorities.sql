{% set dimensions = ['geo', 'placement', 'audience'] %}

-- a number stands for each word: to group texts costs several times as much
with meant as (
    select distinct value_no, dimension, word
    from {{ ref('int_score_values') }}
),

spans as (
    select
        days.span_key,
        ads.entity_key as ad_key,
        shown.value_no,
        cast({{ sum_of_days('parts.impressions', 'parts.date', 'days.day') }} as bigint) as impressions
    from {{ ref('stg_ad_platform__delivery_breakdowns') }} as parts
    inner join {{ ref('int_score_values') }} as shown
        on parts.dimension = shown.dimension and parts.value = shown.value
    inner join {{ ref('int_profiles') }} as profiles on parts.profile_id = profiles.profile_id
    inner join {{ ref('int_entities') }} as ads
        on profiles.profile_key = ads.profile_key and ads.level = 'ad'
        and parts.platform = ads.platform and parts.ad_id = ads.platform_id
    inner join {{ ref('int_score_days') }} as days
        on profiles.profile_key = days.profile_key and parts.date = days.day
    where parts.impressions > 0
    group by days.span_key, ads.entity_key, shown.value_no
),

sums as (
    select
        windows.window_key,
        spans.ad_key,
        spans.value_no,
        cast(sum(spans.impressions) as bigint) as impressions
    from spans
    inner join {{ ref('int_score_spans') }} as windows on spans.span_key = windows.span_key
    group by windows.window_key, spans.ad_key, spans.value_no
),

led as (
    select
        sums.window_key,
        sums.ad_key
        {%- for dimension in dimensions %}
            {%- set shown = "case when shown.dimension = '" ~ dimension ~ "' then sums.impressions end" %},
            max_by(sums.value_no, {{ shown }}) as {{ dimension }}_value_no,
            cast(max({{ shown }}) as double) / cast(sum({{ shown }}) as double) as {{ dimension }}_share
        {%- endfor %}
    from sums
    inner join meant as shown on sums.value_no = shown.value_no
    group by sums.window_key, sums.ad_key
),

words as (
    select meant.value_no, words.word_no
    from meant
    inner join {{ ref('int_score_words') }} as words on meant.word = words.word
)

select
    led.window_key,
    led.ad_key
    {%- for dimension in dimensions %},
        case
            when led.{{ dimension }}_share >= constants.majority_share then {{ dimension }}_words.word_no
            when led.{{ dimension }}_share is not null then mixed.word_no
        end as {{ dimension }}_no
    {%- endfor %}
from led
cross join {{ ref('int_score_constants') }} as constants
inner join {{ ref('int_score_words') }} as mixed on mixed.word = 'mixed'
{%- for dimension in dimensions %}
left join words as {{ dimension }}_words on led.{{ dimension }}_value_no = {{ dimension }}_words.value_no
{%- endfor %}
