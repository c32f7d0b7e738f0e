with shown as (
    select
        dimension,
        value,
        case
            when dimension <> 'audience' then translate({{ lower_of('value') }}, '|', '/')
            when {{ lower_of('value') }} in ('hot', 'warm', 'cold', 'mixed') then {{ lower_of('value') }}
            else 'unknown'
        end as word
    from {{ ref('stg_ad_platform__delivery_breakdowns') }}
    where impressions > 0
    group by dimension, value
)

select
    cast(dense_rank() over (order by dimension, word) as int) as value_no,
    dimension,
    value,
    word
from shown
