with shares as (
    select
        credits.conversion_key,
        destinations.campaign_key,
        sum(credits.k) as k,
        sum(credits.w_dec) as w_dec,
        bit_or(credits.flags) as flags
    from {{ ref('int_credits') }} as credits
    inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
    where destinations.campaign_key is not null
    group by credits.conversion_key, destinations.campaign_key
),

ranked as (
    select
        *,
        row_number() over (partition by conversion_key order by k desc, campaign_key asc) as linear_turn,
        row_number() over (partition by conversion_key order by w_dec desc, campaign_key asc) as time_decay_turn
    from shares
)

select
    conversion_key,
    {% for model in credit_models() -%}
        max(
            case
                when {{ 'flags & ' ~ model.bit ~ ' <> 0' if model.bit else model.name ~ '_turn = 1' }} then campaign_key
            end
        ) as {{ model.name }}_campaign{{ ',' if not loop.last }}
    {% endfor %}
from ranked
group by conversion_key
