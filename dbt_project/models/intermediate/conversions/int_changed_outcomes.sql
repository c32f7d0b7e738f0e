{#- Empty where every row is made anew. -#}
{% if keeps_rows() %}
-- by their numbers of today and of the build before, so that nothing is missed when profiles are numbered anew
with numbers as (
    select profile_key, profile_id from {{ ref('int_profiles') }}
    union
    select profile_key, profile_id from {{ changes_of('int_profiles') }}
),

profiles as (
    select profiles.profile_id from {{ ref('int_profiles') }} as profiles
    where {{ is_profile_changed() }}
    {%- for model in ['int_profiles', 'stg_app__goals', 'stg_app__goal_events'] %}
    union
    select profile_id from {{ changes_of(model) }}
    {%- endfor %}
),

-- a local date is the date in UTC or a neighbour
days as (
    {%- for step in [-1, 0, 1] %}
    select day + {{ step }} as day from {{ changes_of('int_fx_rates') }}
    {{ 'union' if not loop.last }}
    {%- endfor %}
),

found as (
    select profile_id, false as is_cash, conversion_key as outcome_ref from {{ changes_of('stg_app__conversions') }}
    union
    select profile_id, false as is_cash, conversion_key as outcome_ref from {{ ref('stg_app__conversions') }}
    where
        profile_id in (select profiles.profile_id from profiles)
        or cast(occurred_at as date) in (select days.day from days)
    union
    select records.profile_id, false as is_cash, records.conversion_key as outcome_ref
    from {{ ref('stg_app__conversions') }} as records
    inner join numbers on records.profile_id = numbers.profile_id
    inner join {{ changes_of('int_identity_keys') }} as keys
        on numbers.profile_key = keys.profile_key and records.identity_key = keys.identity_key
    union
    select numbers.profile_id, true as is_cash, payments.payment_ref as outcome_ref
    from (
        select profile_key, payment_ref from {{ ref('int_payments') }}
        where cast({{ timestamp_of('ts') }} as date) in (select days.day from days)
        union
        select known.profile_key, known.payment_ref
        from {{ ref('int_payments') }} as known
        inner join numbers as owners on known.profile_key = owners.profile_key
        where owners.profile_id in (select profiles.profile_id from profiles)
        {%- for model in ['int_payments', 'int_payment_claims', 'int_refunds', 'int_renewals'] %}
        union
        select profile_key, payment_ref from {{ changes_of(model) }}
        {%- endfor %}
    ) as payments
    inner join numbers on payments.profile_key = numbers.profile_key
)

select
    case
        when is_cash then {{ outcome_key('profile_id', true, 'outcome_ref') }}
        else {{ outcome_key('profile_id', false, 'outcome_ref') }}
    end as conversion_key,
    profile_id,
    is_cash,
    outcome_ref
from found
{% else %}
select cast(0 as bigint) as conversion_key, profile_id, true as is_cash, profile_id as outcome_ref
from {{ ref('int_profiles') }}
where false
{% endif %}
