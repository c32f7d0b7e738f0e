{{ kept_by(['statement_key'], 'int_changed_statements', told=['statement_key', 'identity_key']) }}

{% set kinds = identifier_kinds() %}

with seen as (
    select profile_id, {{ kinds | join(', ') }}, first_seen_at
    from {{ changed_statements('int_touch_statements') }}
    union all
    {%- for model in ['stg_app__conversions', 'stg_app__ad_referrals'] %}
    select profile_id, {{ kinds | join(', ') }}, min(occurred_at) as first_seen_at
    from {{ changed_statements(model) }}
    group by profile_id, {{ kinds | join(', ') }}
    union all
    {%- endfor %}
    select profile_id, {{ kinds | join(', ') }}, min(created_at) as first_seen_at
    from {{ changed_statements('stg_store__orders') }}
    group by profile_id, {{ kinds | join(', ') }}
    union all
    select
        profile_id,
        person_key,
        external_id,
        cast(null as {{ dbt.type_string() }}) as payment_customer_id,
        email,
        phone,
        cast(null as {{ dbt.type_string() }}) as anonymous_id,
        created_at as first_seen_at
    from {{ changed_statements('stg_app__people') }}
),

sets as (
    select profile_id, {{ kinds | join(', ') }}, min(first_seen_at) as first_seen_at
    from seen
    group by profile_id, {{ kinds | join(', ') }}
)

select
    p.profile_key,
    {{ statement_key('p.profile_id', identity_key()) }} as statement_key,
    {{ identity_key() }} as identity_key,
    {{ kinds | join(',\n    ') }},
    s.first_seen_at
from sets as s
inner join {{ ref('int_profiles') }} as p on s.profile_id = p.profile_id
where {{ identity_key() }} is not null
