with claims as (
    select * from {{ ref('int_payment_claims') }}
),

names as (
    select profile_key, payment_ref as ref, payment_ref, is_captured from claims
    union all
    select profile_key, 'order:' || order_ref as ref, payment_ref, is_captured from claims
    where order_ref is not null
    union all
    select profile_key, store_ref as ref, payment_ref, is_captured from claims
    where store_ref is not null
    union all
    select profile_key, own_ref as ref, payment_ref, is_captured from claims
    where own_ref is not null
)

select
    profile_key,
    ref,
    -- An order that was paid at the second attempt is called by that one, not by the one that failed.
    coalesce(min(case when is_captured then payment_ref end), min(payment_ref)) as payment_ref
from names
group by profile_key, ref
