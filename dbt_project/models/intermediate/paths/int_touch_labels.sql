{{ config(materialized='view') }}

{% set text = dbt.type_string() %}

select
    profile_id,
    record_no,
    touch_key,
    channel,
    origin,
    utm_source,
    utm_medium,
    utm_campaign,
    {{ utm_text() }} as utm_text,
    landing_host,
    ad_id,
    is_paid
from {{ ref('stg_app__touches') }}
union all
select
    profile_id,
    record_no,
    {{ touch_keys()['stg_app__ad_referrals'] }} as touch_key,
    channel,
    {{ referral_origin() }} as origin,
    cast(null as {{ text }}) as utm_source,
    cast(null as {{ text }}) as utm_medium,
    cast(null as {{ text }}) as utm_campaign,
    cast(null as {{ text }}) as utm_text,
    cast(null as {{ text }}) as landing_host,
    ad_id,
    true as is_paid
from {{ ref('stg_app__ad_referrals') }}
{% for model in ['stg_app__conversions', 'stg_store__orders'] -%}
    union all
    select
        profile_id,
        record_no,
        {{ touch_keys()[model] }} as touch_key,
        'other' as channel,
        'other' as origin,
        utm_source,
        utm_medium,
        utm_campaign,
        {{ utm_text() }} as utm_text,
        cast(null as {{ text }}) as landing_host,
        ad_id,
        cast(null as boolean) as is_paid
    from {{ ref(model) }}
{% endfor %}
