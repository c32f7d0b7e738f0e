with {{ versions(source('lake', 'creatives'), ['_profile_id', 'platform', 'creative_id']) }}

select
    _profile_id as profile_id,
    platform,
    creative_id,
    format,
    video_id,
    thumbnail_url,
    title,
    body,
    call_to_action,
    landing_url,
    hook_type,
    creative_format,
    cta_type,
    primary_angle,
    offers,
    content_hash,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
