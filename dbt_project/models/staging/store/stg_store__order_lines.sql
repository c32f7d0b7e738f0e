with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, connection_ref, order_id, line_id
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'order_lines') }}
)

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
