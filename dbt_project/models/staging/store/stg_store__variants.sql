with {{ versions(source('lake', 'variants'), ['_profile_id', 'connection_ref', 'variant_id']) }}

select
    _profile_id as profile_id,
    connection_ref,
    variant_id,
    product_id,
    title,
    sku,
    barcode,
    position,
    price,
    compare_at_price,
    inventory_quantity,
    inventory_policy,
    tracked,
    options,
    updated_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
