{{ by_conversion() }}

with shares as (
    select
        credits.conversion_key,
        destinations.campaign_key,
        cast(sum(credits.k) as int) as k,
        cast(sum(credits.w_dec) as bigint) as w_dec,
        bit_or(credits.flags) as flags
    from {{ changed_conversions('int_credits') }} as credits
    inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
    where destinations.campaign_key is not null
    group by credits.conversion_key, destinations.campaign_key
),

-- Not ranks: sorting the campaigns of every conversion costs twice as much as looking at them once more.
largest as (
    select
        conversion_key,
        max(k) as linear_most,
        max(w_dec) as time_decay_most
    from shares
    group by conversion_key
)

select
    shares.conversion_key,
    {% for model in credit_models() if model.bit -%}
        max(case when shares.flags & {{ model.bit }} <> 0 then shares.campaign_key end) as {{ model.name }}_campaign,
    {% endfor -%}
    min(case when shares.k = largest.linear_most then shares.campaign_key end) as linear_campaign,
    min(case when shares.w_dec = largest.time_decay_most then shares.campaign_key end) as time_decay_campaign
from shares
inner join largest on shares.conversion_key = largest.conversion_key
group by shares.conversion_key
