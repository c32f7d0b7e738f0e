with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, touch_key
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'touches') }}
)

select
    _profile_id as profile_id,
    touch_key,
    occurred_at,
    {{ epoch_seconds('occurred_at') }} as occurred_s,
    person_key,
    anonymous_id,
    email,
    phone,
    external_id,
    payment_customer_id,
    {{ identity_key() }} as identity_key,
    channel,
    origin,
    ad_platform,
    ad_id,
    ad_set_id,
    campaign_id,
    is_direct,
    is_paid,
    click_id_type,
    click_id,
    utm_source,
    utm_medium,
    utm_campaign,
    utm_content,
    utm_term,
    utm_id,
    referrer_host,
    landing_host,
    session_id,
    conversation_id,
    country,
    consent_marketing,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
