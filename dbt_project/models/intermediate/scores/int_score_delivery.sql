{% set counted = [
    'link_clicks', 'video_3s_views', 'video_15s_views', 'messaging_conversations_started_7d', 'messaging_first_replies'
] %}
{% set summed = ['impressions', 'clicks', 'click_events'] + counted + ['engagements'] %}

with spans as (
    select
        days.span_key,
        ad_days.profile_key,
        ad_days.ad_key,
        cast(sum(case when ad_days.impressions > 0 then 1 else 0 end) as int) as delivery_days,
        cast(sum(coalesce(ad_days.spend_minor, 0)) as bigint) as spend_minor,
        sum(cast(
            coalesce(ad_days.spend_minor, 0) * days.matured_share as decimal(24, 8)
        )) as matured_spend,
        cast(sum(ad_days.impressions) as bigint) as impressions,
        cast(sum(ad_days.clicks) as bigint) as clicks,
        cast(sum(coalesce(ad_days.link_clicks, ad_days.clicks)) as bigint) as click_events,
        {% for name in counted -%}
            cast(sum(ad_days.{{ name }}) as bigint) as {{ name }},
        {% endfor -%}
        cast(sum(
            coalesce(ad_days.reactions, 0) + coalesce(ad_days.comments, 0)
            + coalesce(ad_days.shares, 0) + coalesce(ad_days.saves, 0)
        ) as bigint) as engagements,
        cast(sum(ad_days.platform_conversions) as decimal(18, 4)) as platform_conversions,
        cast(sum(ad_days.platform_conversion_value_minor) as bigint) as platform_conversion_value_minor
    from {{ ref('int_delivery') }} as ad_days
    inner join {{ ref('int_score_days') }} as days
        on ad_days.profile_key = days.profile_key and ad_days.day = days.day
    group by days.span_key, ad_days.profile_key, ad_days.ad_key
)

select
    windows.window_key,
    spans.profile_key,
    spans.ad_key,
    cast(sum(spans.delivery_days) as int) as delivery_days,
    cast(sum(spans.spend_minor) as bigint) as spend_minor,
    cast(sum(spans.matured_spend) as decimal(28, 8)) as matured_spend,
    {% for name in summed -%}
        cast(sum(spans.{{ name }}) as bigint) as {{ name }},
    {% endfor -%}
    cast(sum(spans.platform_conversions) as decimal(18, 4)) as platform_conversions,
    cast(sum(spans.platform_conversion_value_minor) as bigint) as platform_conversion_value_minor
from spans
inner join {{ ref('int_score_spans') }} as windows on spans.span_key = windows.span_key
group by windows.window_key, spans.profile_key, spans.ad_key
having sum(spans.spend_minor) > 0 or sum(spans.impressions) > 0
