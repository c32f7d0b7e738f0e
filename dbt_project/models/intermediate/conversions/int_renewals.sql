{{ compared(['profile_key', 'payment_ref', 'first_key']) }}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

refs as (
    select * from {{ ref('int_payment_refs') }}
)

select
    refs.profile_key,
    refs.payment_ref,
    -- what lies outside the calendar is no conversion
    max(case
        when calendar.utc_day is not null
            then {{ outcome_key('profiles.profile_id', true, 'firsts.payment_ref') }}
    end) as first_key
from {{ ref('stg_app__recurring_payments') }} as recurring
inner join profiles on recurring.profile_id = profiles.profile_id
inner join refs
    on
        profiles.profile_key = refs.profile_key
        and recurring.payment_ref = refs.ref
left join refs as first_refs
    on
        profiles.profile_key = first_refs.profile_key
        and recurring.first_payment_ref = first_refs.ref
left join {{ ref('int_payments') }} as firsts
    on
        first_refs.profile_key = firsts.profile_key
        and first_refs.payment_ref = firsts.payment_ref
left join {{ ref('stg_app__calendar') }} as calendar on {{ on_local_day('firsts.ts') }}
where recurring.billing_reason = 'cycle' and profiles.inherit_recurring
group by refs.profile_key, refs.payment_ref
