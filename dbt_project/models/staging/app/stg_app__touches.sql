{{ kept_by(['profile_id', 'touch_key'], 'changes.touch_keys') }}
{{ packed(plain=['touch_key', 'occurred_at', 'is_direct', 'is_paid', 'loaded_at']) }}
{% set lake = 'changes.touches' if keeps_own_rows() else source('lake', 'touches') %}

with {{ outdated(lake, 'touch_key') }}

select
    _profile_id as profile_id,
    {{ record_no() }} as record_no,
    touch_key,
    occurred_at,
    {{ epoch_seconds('occurred_at') }} as occurred_s,
    {{ identity_key() }} as identity_key,
    channel,
    origin,
    ad_platform,
    ad_id,
    ad_set_id,
    campaign_id,
    is_direct,
    is_paid,
    {{ lower_of('click_id_type') }} as click_id_type,
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
    consent_marketing,
    _source as landed_from,
    _loaded_at as loaded_at
from {{ lake }}
where
    not _deleted
    and {{ record_no() }} not in (select outdated.record_no from outdated)
