with {{ versions(source('lake', 'products'), ['_profile_id', 'connection_ref', 'product_id']) }}

select
    _profile_id as profile_id,
    connection_ref,
    product_id,
    title,
    handle,
    status,
    vendor,
    product_type,
    tags,
    image_url,
    url,
    currency,
    created_at,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
