with {{ versions(source('lake', 'fx_rates'), ['rate_date', 'base', 'quote']) }}

select
    rate_date,
    base,
    quote,
    rate,
    source
from ranked
where recency = 1 and not _deleted
