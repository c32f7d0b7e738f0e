{{ compared(['day', 'base', 'quote', 'rate']) }}

with quotes as (
    select rate_date, base, quote, rate, coalesce(source, '') as source
    from {{ ref('stg_finance__fx_rates') }}
    where rate < 10000000 and rate > 0.0000002
),

needed as (
    select distinct a.currency as base, b.currency as quote
    from {{ ref('int_money_days') }} as a
    cross join {{ ref('int_profiles') }} as b
),

days as (
    select distinct day from {{ ref('int_money_days') }}
),

ratios as (
    {{ fx_routes('quotes') }}
),

candidates as (
    select
        d.day, n.base, n.quote, r.numerator, r.denominator, r.rate_date, r.source,
        row_number() over (
            partition by d.day, n.base, n.quote
            order by r.rate_date desc, r.route asc, r.source asc, r.numerator asc, r.denominator asc
        ) as choice
    from needed as n
    -- what two rates make together may be beyond what one is held to
    inner join ratios as r on n.base = r.base and n.quote = r.quote and r.numerator <= 9999999.9999 * r.denominator
    inner join days as d on r.rate_date between d.day - {{ var('fx_max_age_days') }} and d.day
    where n.base <> n.quote
)

select day, base, quote, {{ rate_quotient('numerator', 'denominator') }} as rate, rate_date, source
from candidates
where choice = 1
union all
select d.day, n.base, n.quote, cast(1 as decimal(28, 12)), d.day as rate_date, 'same currency'
from needed as n
cross join days as d
where n.base = n.quote
