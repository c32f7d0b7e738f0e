{{ kept_by(
    ['profile_id', 'conversion_key'], 'changes.conversion_keys',
    told=['profile_id', 'conversion_key', 'identity_key', 'record_no']
) }}
{% set lake = 'changes.conversions' if keeps_own_rows() else source('lake', 'conversions') %}

with {{ outdated(lake, 'conversion_key') }}

select
    _profile_id as profile_id,
    {{ record_no() }} as record_no,
    conversion_key,
    occurred_at,
    {{ epoch_seconds('occurred_at') }} as occurred_s,
    person_key,
    anonymous_id,
    email,
    phone,
    external_id,
    payment_customer_id,
    {{ identity_key() }} as identity_key,
    conversion_type,
    event_name,
    event_origin,
    value,
    currency,
    payment_ref,
    payment_status,
    refunds_payment_ref,
    refund_kind,
    order_ref,
    subscription_ref,
    conversation_id,
    ad_platform,
    ad_id,
    ad_set_id,
    campaign_id,
    {{ lower_of('click_id_type') }} as click_id_type,
    click_id,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term,
    utm_id,
    touch_at,
    source,
    answer_key,
    answer_text,
    _source as landed_from,
    _loaded_at as loaded_at
from {{ lake }}
where
    not _deleted
    and {{ record_no() }} not in (select outdated.record_no from outdated)
