with quotes as (
    select rate_date, base, quote, rate, coalesce(source, '') as source
    from {{ ref('stg_finance__fx_rates') }}
    where rate < 10000000 and rate > 0.0000002
),

newest as (
    select max(rate_date) as day from quotes
),

recent as (
    select q.rate_date, q.base, q.quote, q.rate, q.source
    from quotes as q
    inner join newest as n on q.rate_date >= n.day - {{ var('fx_max_age_days') }}
),

ratios as (
    {{ fx_routes('recent') }}
),

candidates as (
    select
        base, quote, numerator, denominator, rate_date,
        row_number() over (
            partition by base, quote
            order by rate_date desc, route asc, source asc, numerator asc, denominator asc
        ) as choice
    from ratios
    where base <> quote and base in (select p.currency from {{ ref('int_profiles') }} as p)
)

select base, quote, {{ rate_quotient('numerator', 'denominator') }} as rate, rate_date
from candidates
where choice = 1
order by base, quote
