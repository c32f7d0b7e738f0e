with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id, payment_ref
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'payment_payers') }}
)

select
    profile_id,
    payment_ref,
    identifier_id,
    assigned_at
from ranked
where recency = 1 and not _deleted
