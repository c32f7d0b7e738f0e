{{ config(materialized='view') }}

select record_no, utm_source, utm_medium, utm_campaign, landing_host, ad_id, is_paid
from {{ ref('stg_app__touches') }}
union all
select
    record_no,
    cast(null as {{ dbt.type_string() }}) as utm_source,
    cast(null as {{ dbt.type_string() }}) as utm_medium,
    cast(null as {{ dbt.type_string() }}) as utm_campaign,
    cast(null as {{ dbt.type_string() }}) as landing_host,
    ad_id,
    true as is_paid
from {{ ref('stg_app__ad_referrals') }}
{% for model in ['stg_app__conversions', 'stg_store__orders'] -%}
    union all
    select
        record_no,
        utm_source,
        utm_medium,
        utm_campaign,
        cast(null as {{ dbt.type_string() }}) as landing_host,
        ad_id,
        cast(null as boolean) as is_paid
    from {{ ref(model) }}
{% endfor %}
