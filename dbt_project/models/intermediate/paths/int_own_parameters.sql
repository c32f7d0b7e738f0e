{{ compared([
    'profile_key', 'person_key', 'is_shared', 'record_no', 'touch_key', 'ts', 'is_undated', 'ad_platform', 'ad_id',
    'ad_set_id', 'campaign_id', 'is_paid', 'click_id_type', 'click_id', 'named_ad', 'utm_text'
]) }}

with records as (
    select
        profile_id,
        record_no,
        identity_key,
        {{ touch_keys()['stg_app__conversions'] }} as claim_key,
        occurred_s as ts,
        touch_at,
        ad_platform,
        ad_id,
        ad_set_id,
        campaign_id,
        click_id_type,
        click_id,
        {{ named_ad() }} as named_ad,
        {{ utm_text() }} as utm_text,
        coalesce(utm_medium, '') as utm_medium
    from {{ ref('stg_app__conversions') }}
    where conversion_type <> 'refund_issued' and coalesce(payment_status, 'captured') <> 'test'

    union all

    select
        profile_id,
        record_no,
        identity_key,
        {{ touch_keys()['stg_store__orders'] }} as claim_key,
        {{ epoch_seconds('coalesce(processed_at, created_at)') }} as ts,
        touch_at,
        ad_platform,
        ad_id,
        ad_set_id,
        campaign_id,
        click_id_type,
        click_id,
        {{ named_ad() }} as named_ad,
        {{ utm_text() }} as utm_text,
        coalesce(utm_medium, '') as utm_medium
    from {{ ref('stg_store__orders') }}
)

select
    profiles.profile_key,
    -- What a payment's statement names brought whoever paid, whom another statement may tell.
    coalesce(payments.person_key, people.person_key) as person_key,
    coalesce(people.is_shared, false) as is_shared,
    records.record_no,
    records.claim_key as touch_key,
    -- Undated parameters were there when the payment was made, even where the store recorded it seconds later.
    coalesce({{ epoch_seconds('records.touch_at') }}, least(records.ts, coalesce(payments.ts, records.ts))) as ts,
    records.touch_at is null as is_undated,
    records.ad_platform,
    records.ad_id,
    records.ad_set_id,
    records.campaign_id,
    records.named_ad is not null
    or records.ad_platform is not null
    or {{ click_platform('records.click_id_type') }} is not null
    or {{ lower_of('records.utm_medium') }} in ({{ "'" ~ paid_media() | join("', '") ~ "'" }}) as is_paid,
    records.click_id_type,
    records.click_id,
    records.named_ad,
    records.utm_text
from records
inner join {{ ref('int_profiles') }} as profiles on records.profile_id = profiles.profile_id
left join {{ ref('int_identity_keys') }} as people
    on
        profiles.profile_key = people.profile_key
        and records.identity_key = people.identity_key
left join {{ ref('int_payment_claims') }} as claims
    on
        profiles.profile_key = claims.profile_key
        and records.claim_key = claims.claim_key
left join {{ ref('int_payments') }} as payments
    on
        claims.profile_key = payments.profile_key
        and claims.payment_ref = payments.payment_ref
where
    coalesce(payments.person_key, people.person_key) is not null
    and coalesce(records.named_ad, records.ad_platform, records.click_id, records.utm_text) is not null
