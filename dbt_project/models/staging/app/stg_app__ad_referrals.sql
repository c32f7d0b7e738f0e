{{ compared(['profile_id', 'conversation_id', 'identity_key', 'occurred_s', 'record_no']) }}

with {{ versions(source('lake', 'ad_referrals'), ['_profile_id', 'referral_id']) }}

select
    _profile_id as profile_id,
    {{ record_no() }} as record_no,
    referral_id,
    conversation_id,
    channel,
    occurred_at,
    {{ epoch_seconds('occurred_at') }} as occurred_s,
    ad_platform,
    ad_id,
    click_id,
    person_key,
    anonymous_id,
    email,
    phone,
    external_id,
    payment_customer_id,
    {{ identity_key() }} as identity_key,
    seen_live,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
