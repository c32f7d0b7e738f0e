{#- Candidates of one date are, in order: the pair itself, its inverse, and three ways through a third currency that
    the same source prices on the same day. -#}
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
    select
        rate_date, base, quote, cast(rate as decimal(28, 12)) as numerator, cast(1 as decimal(18, 10)) as denominator,
        1 as route, source
    from quotes
    union all
    select rate_date, quote, base, 1, rate, 2, source
    from quotes
    union all
    select a.rate_date, a.quote as base, b.quote, b.rate as numerator, a.rate as denominator, 3 as route, a.source
    from quotes as a
    inner join quotes as b on a.rate_date = b.rate_date and a.source = b.source and a.base = b.base
    union all
    select a.rate_date, a.base, b.base as quote, a.rate as numerator, b.rate as denominator, 4 as route, a.source
    from quotes as a
    inner join quotes as b on a.rate_date = b.rate_date and a.source = b.source and a.quote = b.quote
    union all
    select a.rate_date, a.base, b.quote, cast(a.rate * b.rate as decimal(28, 12)), 1, 5, a.source
    from quotes as a
    inner join quotes as b on a.rate_date = b.rate_date and a.source = b.source and a.quote = b.base
),

candidates as (
    select
        d.day, n.base, n.quote, r.numerator, r.denominator, r.rate_date, r.source,
        row_number() over (
            partition by d.day, n.base, n.quote
            order by r.rate_date desc, r.route asc, r.source asc, r.numerator asc, r.denominator asc
        ) as choice
    from needed as n
    inner join ratios as r on n.base = r.base and n.quote = r.quote
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
