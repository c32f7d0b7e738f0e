with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, connection_ref, product_id
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'products') }}
)

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
