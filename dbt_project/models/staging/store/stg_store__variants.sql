with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, connection_ref, variant_id
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'variants') }}
)

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
