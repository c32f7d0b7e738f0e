with shown as (
    select distinct dimension, value
    from {{ ref('stg_ad_platform__delivery_breakdowns') }}
    where impressions > 0
)

select
    cast(row_number() over (order by dimension, value) as int) as value_no,
    dimension,
    value,
    case
        when dimension <> 'audience' then translate(lower(value), '|', '/')
        when lower(value) in ('hot', 'warm', 'cold', 'mixed') then lower(value)
        else 'unknown'
    end as word
from shown
