{{ compared(['profile_id', 'identity_key', 'record_no']) }}

with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, connection_ref, order_id
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'orders') }}
)

select
    _profile_id as profile_id,
    {{ record_no() }} as record_no,
    connection_ref,
    order_id,
    order_ref,
    created_at,
    updated_at,
    processed_at,
    cancelled_at,
    financial_status,
    fulfillment_status,
    currency,
    subtotal,
    total_discounts,
    total_shipping,
    total_tax,
    total,
    refunded_total,
    payment_ref,
    person_key,
    anonymous_id,
    email,
    phone,
    external_id,
    payment_customer_id,
    {{ identity_key() }} as identity_key,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term,
    utm_id,
    ad_platform,
    ad_id,
    ad_set_id,
    campaign_id,
    click_id_type,
    click_id,
    touch_at,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
