{% set landing_url = 'coalesce(a.landing_url, c.landing_url)' %}
{% set host = "'^[a-zA-Z][a-zA-Z0-9+.-]*:/{2}([^/?#]*@)?([^/?#:@]+)', 2" %}

select
    e.profile_key,
    e.entity_key,
    cast(a.created_at as timestamp) as created_at,
    a.creative_id,
    c.format,
    c.thumbnail_url,
    c.video_id,
    c.title,
    c.body,
    nullif(lower(regexp_extract({{ landing_url }}, {{ host }})), '') as landing_host,
    a.url_tags,
    c.hook_type,
    c.creative_format,
    c.cta_type,
    c.primary_angle,
    c.offers
from {{ ref('int_entities') }} as e
inner join {{ ref('int_profiles') }} as p on e.profile_key = p.profile_key
inner join {{ ref('stg_ad_platform__ads') }} as a
    on p.profile_id = a.profile_id and e.platform = a.platform and e.platform_id = a.ad_id
left join {{ ref('stg_ad_platform__creatives') }} as c
    on p.profile_id = c.profile_id and a.platform = c.platform and a.creative_id = c.creative_id
where e.level = 'ad'
order by e.profile_key, e.entity_key
