with people as (
    select
        profile_key,
        person_key,
        min(person_id) as person_ref
    from {{ ref('int_person_identifiers') }}
    group by profile_key, person_key
),

-- The share of the payment that they took, for rates lead to reporting currencies only.
foreign_refunds as (
    select
        profile_key,
        outcome_ref,
        cast(least(foreign_minor, cash_minor + refunded_minor) as decimal(38, 0)) as part,
        cast(least(foreign_minor - foreign_by_hand_minor, cash_minor + refunded_minor) as decimal(38, 0))
            as part_of_others,
        cast(foreign_minor as decimal(38, 0)) as part_uncapped,
        cast(cash_minor + refunded_minor as decimal(38, 0)) as total
    from {{ ref('int_outcome_money') }}
    where revenue_type = 'cash' and foreign_minor > 0 and cash_minor + refunded_minor > 0
),

payments as (
    select
        payments.*,
        coalesce(payments.value, 0) as paid,
        {%- for part, refunded in [
            ('part', 'foreign_refunded'), ('part_of_others', 'foreign_by_others'), ('part_uncapped', 'foreign_told')
        ] %}
        case
            when foreign_refunds.total is null then 0
            else
                cast(least(
                    {{ floor_quotient(
                        'cast(cast(payments.value as decimal(38, 4)) * 10000 as decimal(38, 0)) * foreign_refunds.' ~ part,
                        'foreign_refunds.total'
                    ) }},
                    999999999999999999
                ) as decimal(18, 0)) * 0.0001
        end as {{ refunded }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ref('int_payments') }} as payments
    left join foreign_refunds
        on
            payments.profile_key = foreign_refunds.profile_key
            and payments.payment_ref = foreign_refunds.outcome_ref
    where payments.currency is not null
),

taken_back as (
    select
        *,
        least(paid, refunded + foreign_refunded) as taken,
        least(paid, refunded - by_hand + foreign_by_others) as taken_by_others
    from payments
)

select
    payments.profile_key,
    payments.payment_ref,
    payments.ts,
    cast(payments.paid as decimal(18, 4)) as value,
    cast(payments.taken as decimal(18, 4)) as refunded,
    cast(payments.taken - payments.taken_by_others as decimal(18, 4)) as refunded_by_hand,
    cast(least(payments.refunded + payments.foreign_told - payments.taken, 99999999999999) as decimal(18, 4))
        as refunded_beyond,
    payments.currency,
    people.person_ref,
    -- The first sign and the domain, or the last two figures: enough to know whom one asks, not to reach anybody.
    coalesce(
        substr(names.email, 1, 1) || '***' || substr(names.email, position('@' in names.email)),
        '***' || substr(names.phone, length(names.phone) - 1)
    ) as payer_hint
from taken_back as payments
left join people
    on
        payments.profile_key = people.profile_key
        and payments.person_key = people.person_key
left join {{ ref('person_names') }} as names
    on
        payments.profile_key = names.profile_key
        and payments.person_key = names.person_key
order by payments.profile_key, payments.payment_ref
