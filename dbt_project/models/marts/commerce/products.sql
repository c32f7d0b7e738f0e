with variants as (
    select profile_id, connection_ref, product_id, max(updated_at) as updated_at
    from {{ ref('stg_store__variants') }}
    group by profile_id, connection_ref, product_id
)

select
    profiles.profile_key,
    cast(greatest(products.updated_at, coalesce(variants.updated_at, products.updated_at)) as timestamp) as updated_at,
    products.product_id,
    products.connection_ref,
    products.status,
    products.title,
    products.handle,
    products.vendor,
    products.product_type,
    products.tags,
    products.image_url,
    products.url,
    products.currency,
    cast(products.created_at as timestamp) as created_at
from {{ ref('stg_store__products') }} as products
inner join {{ ref('int_profiles') }} as profiles on products.profile_id = profiles.profile_id
left join variants
    on
        products.profile_id = variants.profile_id
        and products.connection_ref = variants.connection_ref
        and products.product_id = variants.product_id
order by profiles.profile_key, updated_at, products.product_id, products.connection_ref
