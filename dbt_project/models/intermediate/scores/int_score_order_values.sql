with orders as (
    select
        spans.window_key,
        cohorts.root_key,
        destinations.ad_key,
        cents.cents
    from {{ ref('int_credit_cents') }} as cents
    inner join {{ ref('int_conversions') }} as conversions on cents.conversion_key = conversions.conversion_key
    inner join {{ ref('int_destinations') }} as destinations
        on cents.destination_key = destinations.destination_key
    inner join {{ ref('int_score_days') }} as days
        on conversions.profile_key = days.profile_key and conversions.day = days.day
    inner join {{ ref('int_score_spans') }} as spans on days.span_key = spans.span_key
    inner join {{ ref('int_score_cohorts') }} as cohorts
        on spans.window_key = cohorts.window_key and destinations.ad_key = cohorts.ad_key
    where cents.model = 'last_touch' and conversions.revenue_type = 'cash'
),

counts as (
    select root_key, count(*) as n
    from orders
    group by root_key
),

ranked as (
    select root_key, cents, row_number() over (partition by root_key order by cents) as position
    from orders
),

caps as (
    select ranked.root_key, max(ranked.cents) as cap
    from ranked
    inner join counts on ranked.root_key = counts.root_key
    cross join {{ ref('int_score_constants') }} as constants
    where ranked.position <= ceil(constants.order_cap_quantile * counts.n)
    group by ranked.root_key
),

capped as (
    select orders.window_key, orders.root_key, orders.ad_key, least(orders.cents, caps.cap) as cents
    from orders
    inner join caps on orders.root_key = caps.root_key
),

means as (
    select root_key, cast(sum(cents) as double) / count(*) as mean_cents
    from capped
    group by root_key
)

select
    capped.window_key,
    capped.ad_key,
    case
        when means.mean_cents > 0 then cast(sum(capped.cents) as double) / means.mean_cents else count(*)
    end as relative_value,
    cast(count(*) as int) as valued_orders
from capped
inner join means on capped.root_key = means.root_key
group by capped.window_key, capped.ad_key, means.mean_cents
