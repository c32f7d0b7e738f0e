select
    profiles.profile_key,
    variants.product_id,
    variants.connection_ref,
    variants.variant_id,
    variants.position,
    variants.title,
    variants.sku,
    variants.barcode,
    variants.price,
    variants.compare_at_price,
    variants.inventory_quantity,
    variants.inventory_policy,
    variants.tracked,
    variants.options,
    cast(variants.updated_at as timestamp) as updated_at
from {{ ref('stg_store__variants') }} as variants
inner join {{ ref('int_profiles') }} as profiles on variants.profile_id = profiles.profile_id
inner join {{ ref('stg_store__products') }} as products
    on
        variants.profile_id = products.profile_id
        and variants.connection_ref = products.connection_ref
        and variants.product_id = products.product_id
where products.status <> 'deleted'
order by profiles.profile_key, variants.product_id, variants.connection_ref, variants.variant_id
