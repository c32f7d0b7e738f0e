{{ by_outcome() }}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

people as (
    select * from {{ ref('int_identity_keys') }}
),

calendar as (
    select * from {{ ref('stg_app__calendar') }}
),

outcomes as (
    select
        {{ outcome_key('profiles.profile_id', true, 'payments.payment_ref') }} as conversion_key,
        payments.profile_key,
        payments.conversion_type,
        'cash' as revenue_type,
        payments.payment_ref as outcome_ref,
        payments.person_key,
        payments.is_shared,
        payments.ts,
        payments.value,
        payments.currency,
        payments.refunded,
        payments.only_in_total
    from {{ ref('int_payments') }} as payments
    inner join profiles on payments.profile_key = profiles.profile_key
    {{ only_changed_outcomes('profiles.profile_id', true, 'payments.payment_ref') }}

    union all

    select
        {{ outcome_key('profiles.profile_id', false, 'conversions.conversion_key') }} as conversion_key,
        profiles.profile_key,
        conversions.conversion_type,
        conversions.revenue_type,
        conversions.conversion_key as outcome_ref,
        people.person_key,
        coalesce(people.is_shared, false) as is_shared,
        conversions.occurred_s as ts,
        conversions.value,
        conversions.currency,
        cast(0 as decimal(18, 4)) as refunded,
        cast(0 as decimal(18, 4)) as only_in_total
    from {{ ref('int_events') }} as conversions
    inner join profiles on conversions.profile_id = profiles.profile_id
    {{ only_changed_outcomes('conversions.profile_id', false, 'conversions.conversion_key') }}
    left join people
        on
            profiles.profile_key = people.profile_key
            and conversions.identity_key = people.identity_key
    where conversions.revenue_type in ('pipeline', 'gross')
)

select
    outcomes.conversion_key,
    outcomes.profile_key,
    outcomes.conversion_type,
    outcomes.revenue_type,
    outcomes.outcome_ref,
    outcomes.person_key,
    outcomes.is_shared,
    outcomes.ts,
    calendar.local_date as day,
    outcomes.value,
    outcomes.currency,
    outcomes.refunded,
    outcomes.only_in_total
from outcomes
inner join profiles on outcomes.profile_key = profiles.profile_key
inner join calendar on {{ on_local_day('outcomes.ts') }}
