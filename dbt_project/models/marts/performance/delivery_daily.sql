{% for level in ['campaign', 'ad_set', 'ad'] -%}
select
    profile_key,
    '{{ level }}' as level,
    day,
    {{ level }}_key as entity_key,
    cast(coalesce(sum(spend_minor), 0) as bigint) as spend_minor,
    cast(sum(impressions) as bigint) as impressions,
    cast(sum(clicks) as bigint) as clicks,
    cast(sum(link_clicks) as bigint) as link_clicks,
    cast(sum(messaging_conversations_started_7d) as bigint) as messaging_conversations_started_7d,
    cast(sum(video_3s_views) as bigint) as video_3s_views,
    cast(sum(video_15s_views) as bigint) as video_15s_views,
    cast(sum(platform_conversions) as decimal(18, 4)) as platform_conversions,
    cast(sum(platform_conversion_value_minor) as bigint) as platform_conversion_value_minor
from {{ ref('int_delivery') }}
group by profile_key, day, {{ level }}_key
{% if not loop.last %}union all
{% endif %}
{%- endfor %}
