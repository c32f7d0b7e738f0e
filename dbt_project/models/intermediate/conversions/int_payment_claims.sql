{{ compared(['profile_key', 'payment_ref', 'claim_key', 'source_rank']) }}

with statements as (
    select * from {{ ref('int_payment_statements') }}
),

-- Orders that several stores of a profile name alike: where nothing tells which, one that knows of no payment is meant.
shared as (
    select
        profile_id,
        order_ref,
        coalesce(min(case when own_ref is null then connection_ref end), min(connection_ref)) as likely_store
    from statements
    group by profile_id, order_ref
    having min(connection_ref) <> max(connection_ref)
),

-- The store whose order names the payment.
owners as (
    select orders.profile_id, orders.order_ref, orders.own_ref, min(orders.connection_ref) as store
    from statements as orders
    inner join shared on orders.profile_id = shared.profile_id and orders.order_ref = shared.order_ref
    where orders.connection_ref is not null
    group by orders.profile_id, orders.order_ref, orders.own_ref
),

claims as (
    select
        statements.*,
        case
            when shared.order_ref is null then ''
            else coalesce(statements.connection_ref, owners.store, shared.likely_store)
        end as store
    from statements
    left join shared on statements.profile_id = shared.profile_id and statements.order_ref = shared.order_ref
    left join owners
        on
            statements.profile_id = owners.profile_id
            and statements.order_ref = owners.order_ref
            and statements.own_ref = owners.own_ref
),

-- Of an order over all its claims: the captured payment that others than the store tell, the one that names itself
-- (captured first; what a store calls paid is no failed attempt), whether others than it spoke, or parts paid it.
orders as (
    select
        profile_id,
        order_ref,
        store,
        min(case when is_captured and is_told then own_ref end) as told_ref,
        coalesce(
            min(case when is_captured then own_ref end),
            min(case when not is_failed then own_ref end),
            case when count(case when is_captured and source_rank in (2, 3) then 1 end) = 0 then min(own_ref) end
        ) as own_ref,
        min(source_rank) <> 3 or max(source_rank) <> 3 as has_payment_source,
        count(distinct case when is_captured and connection_ref is null then own_ref end) > 1 as is_in_parts
    from claims
    where order_ref is not null
    group by profile_id, order_ref, store
)

select
    profiles.profile_key,
    coalesce(
        case when claims.is_told or orders.told_ref is null then claims.own_ref end,
        orders.told_ref,
        orders.own_ref,
        case when orders.has_payment_source then 'order:' || claims.order_ref end,
        claims.store_ref
    ) as payment_ref,
    claims.claim_key,
    claims.own_ref,
    claims.conversion_type,
    claims.order_ref,
    claims.store_ref,
    claims.source_rank,
    claims.is_captured,
    coalesce(orders.is_in_parts and (claims.own_ref is null or claims.connection_ref is not null), false)
        as is_total_of_parts,
    case when orders.is_in_parts then orders.told_ref end as parts_of,
    claims.ts,
    claims.value,
    claims.currency,
    claims.refunded,
    claims.identity_key
from claims
inner join {{ ref('int_profiles') }} as profiles on claims.profile_id = profiles.profile_id
left join orders
    on claims.profile_id = orders.profile_id and claims.order_ref = orders.order_ref and claims.store = orders.store
