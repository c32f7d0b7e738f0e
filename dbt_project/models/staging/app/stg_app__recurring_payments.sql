with {{ versions(source('lake', 'recurring_payments'), ['_profile_id', 'payment_ref']) }}

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
