select
    profiles.profile_key,
    lines.order_id,
    lines.connection_ref,
    lines.line_id,
    lines.product_id,
    lines.variant_id,
    lines.sku,
    lines.title,
    lines.quantity,
    lines.price
from {{ ref('stg_store__order_lines') }} as lines
inner join {{ ref('int_profiles') }} as profiles on lines.profile_id = profiles.profile_id
order by profiles.profile_key, lines.order_id, lines.connection_ref, lines.line_id
