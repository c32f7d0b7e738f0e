with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, payment_ref
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'recurring_payments') }}
)

select
    _profile_id as profile_id,
    payment_ref,
    first_payment_ref,
    subscription_ref,
    sequence_no,
    billing_reason,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
