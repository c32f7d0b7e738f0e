select
    names.profile_key,
    names.payment_ref,
    names.ref as name
from {{ ref('int_payment_refs') }} as names
inner join {{ ref('int_payments') }} as named
    on
        names.profile_key = named.profile_key
        and names.payment_ref = named.payment_ref
left join {{ ref('int_payments') }} as payments
    on
        names.profile_key = payments.profile_key
        and names.ref = payments.payment_ref
-- what is a payment itself is no name of another, nor of its own
where payments.payment_ref is null
order by names.profile_key, names.payment_ref, names.ref
