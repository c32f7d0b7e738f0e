with people as (
    select
        profile_key,
        person_key,
        min(person_id) as person_ref,
        min(case when kind = 'email' then value end) as email,
        min(case when kind = 'phone' then value end) as phone
    from {{ ref('int_person_identifiers') }}
    group by profile_key, person_key
)

select
    payments.profile_key,
    payments.payment_ref,
    payments.ts,
    cast(coalesce(payments.value, 0) as decimal(18, 4)) as value,
    cast(payments.refunded as decimal(18, 4)) as refunded,
    payments.currency,
    people.person_ref,
    -- The first sign and the domain, or the last two figures: enough to know whom one asks, not to reach anybody.
    coalesce(
        substr(people.email, 1, 1) || '***' || substr(people.email, position('@' in people.email)),
        '***' || substr(people.phone, length(people.phone) - 1)
    ) as payer_hint
from {{ ref('int_payments') }} as payments
left join people
    on
        payments.profile_key = people.profile_key
        and payments.person_key = people.person_key
where payments.currency is not null
order by payments.profile_key, payments.payment_ref
