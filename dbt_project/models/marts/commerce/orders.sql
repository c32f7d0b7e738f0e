{%- set amounts = ['subtotal', 'total_discounts', 'total_shipping', 'total_tax', 'total', 'refunded_total'] -%}
select
    profiles.profile_key,
    orders.order_id,
    orders.connection_ref,
    cast(orders.created_at as timestamp) as created_at,
    orders.order_ref,
    {{ uuid_v8('profiles.profile_id', "'identifier'", "'email:' || orders.email") }} as email_id,
    {{ uuid_v8('profiles.profile_id', "'identifier'", "'phone:' || orders.phone") }} as phone_id,
    cast(orders.updated_at as timestamp) as updated_at,
    cast(orders.processed_at as timestamp) as processed_at,
    cast(orders.cancelled_at as timestamp) as cancelled_at,
    orders.financial_status,
    orders.fulfillment_status,
    orders.currency,
    {%- for amount in amounts %}
    orders.{{ amount }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ ref('stg_store__orders') }} as orders
inner join {{ ref('int_profiles') }} as profiles on orders.profile_id = profiles.profile_id
order by profiles.profile_key, orders.order_id, orders.connection_ref
