{{ kept_by(['profile_id', 'touch_key'], 'changes.touch_keys') }}
{% set lake = 'changes.touches' if keeps_own_rows() else source('lake', 'touches') %}

-- Most records have one version; ranking all of them, every column carried along, cost half of this model.
with repeated as (
    select _profile_id, touch_key
    from {{ lake }}
    group by _profile_id, touch_key
    having count(*) > 1
),

versions as (
    select
        records._profile_id,
        records.touch_key,
        {{ record_no('records.') }} as record_no,
        row_number() over (
            partition by records._profile_id, records.touch_key
            order by records.updated_at desc nulls last, records._seq desc, records._line desc
        ) as recency
    from {{ lake }} as records
    inner join repeated on records._profile_id = repeated._profile_id and records.touch_key = repeated.touch_key
),

outdated as (
    select record_no
    from versions
    where recency > 1
)

select
    _profile_id as profile_id,
    {{ record_no() }} as record_no,
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
from {{ lake }}
where
    not _deleted
    and {{ record_no() }} not in (select outdated.record_no from outdated)
