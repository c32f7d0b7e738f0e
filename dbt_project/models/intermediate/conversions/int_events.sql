{{ config(materialized='view') }}

{% set outcomes = outcome_types() | reject('equalto', 'payment_received') | join("', '") %}

with named as (
    select
        conversions.*,
        case
            when conversions.event_name is null or conversions.conversion_type = 'refund_issued'
                then conversions.conversion_type
            else coalesce(events.conversion_key, 'unmapped_event')
        end as counted_type
    from {{ ref('stg_app__conversions') }} as conversions
    left join {{ ref('stg_app__goal_events') }} as events
        on
            conversions.profile_id = events.profile_id
            and coalesce(conversions.event_origin, 'server') = events.event_origin
            and conversions.event_name = events.event_name
),

valued as (
    select
        named.*,
        case
            when named.counted_type = 'payment_received' then 'cash'
            when named.counted_type in ('{{ outcomes }}') then 'pipeline'
            when goals.attribution_eligible then goals.revenue_type
        end as goal_value
    from named
    left join {{ ref('stg_app__goals') }} as goals
        on named.profile_id = goals.profile_id and named.counted_type = goals.conversion_key
)

select
    profile_id,
    conversion_key,
    occurred_s,
    identity_key,
    counted_type as conversion_type,
    -- What came before its goal was one of cash may lack what makes a payment, and a browser is never believed.
    case
        when
            goal_value <> 'cash'
            or (
                value is not null and currency is not null and coalesce(payment_ref, order_ref) is not null
                and coalesce(event_origin, 'server') = 'server'
            )
            then goal_value
    end as revenue_type,
    value,
    currency,
    payment_ref,
    payment_status,
    order_ref,
    source,
    answer_key
from valued
