with ranked as (
    select
        *,
        row_number() over (
            partition by rate_date, base, quote
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'fx_rates') }}
)

select
    rate_date,
    base,
    quote,
    rate,
    source
from ranked
where recency = 1 and not _deleted
