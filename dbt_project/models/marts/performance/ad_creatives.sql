{% set landing_url = 'coalesce(a.landing_url, c.landing_url)' %}
{% set host = "'^[a-zA-Z][a-zA-Z0-9+.-]*:/{2}([^/?#]*@)?([^/?#:@]+)', 2" %}

with creatives as (
    select
        *,
        {{ creative_hash('s') }} as creative_hash
    from {{ ref('stg_ad_platform__creatives') }} as s
)

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
    c.call_to_action,
    nullif({{ lower_of('regexp_extract(' ~ landing_url ~ ', ' ~ host ~ ')') }}, '') as landing_host,
    a.url_tags,
    -- the platform or an import knows better than an analysis
    coalesce(c.hook_type, f.hook_type) as hook_type,
    coalesce(c.creative_format, f.creative_format) as creative_format,
    coalesce(c.cta_type, f.cta_type) as cta_type,
    coalesce(c.primary_angle, f.primary_angle) as primary_angle,
    coalesce(c.offers, f.offers) as offers,
    c.creative_hash,
    cast(f.analysed_at as timestamp) as analysed_at
from {{ ref('int_entities') }} as e
inner join {{ ref('int_profiles') }} as p on e.profile_key = p.profile_key
inner join {{ ref('stg_ad_platform__ads') }} as a
    on p.profile_id = a.profile_id and e.platform = a.platform and e.platform_id = a.ad_id
left join creatives as c
    on p.profile_id = c.profile_id and a.platform = c.platform and a.creative_id = c.creative_id
left join {{ ref('stg_app__creative_attributes') }} as f
    on c.profile_id = f.profile_id and c.creative_hash = f.creative_hash
where e.level = 'ad'
order by e.profile_key, e.entity_key
