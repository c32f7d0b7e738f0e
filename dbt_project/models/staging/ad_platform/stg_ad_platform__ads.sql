with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, platform, ad_id
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'ads') }}
)

select
    _profile_id as profile_id,
    platform,
    ad_id,
    ad_set_id,
    campaign_id,
    name,
    status,
    creative_id,
    url_tags,
    landing_url,
    created_at,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
