with {{ versions(source('lake', 'order_lines'), ['_profile_id', 'connection_ref', 'order_id', 'line_id']) }}

select
    _profile_id as profile_id,
    connection_ref,
    order_id,
    line_id,
    product_id,
    variant_id,
    sku,
    title,
    quantity,
    price,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
