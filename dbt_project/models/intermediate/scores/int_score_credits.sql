{% set chats = outcome_columns().index('dm_started') + 1 %}

-- A day's projected value is one sum over all outcomes. Chats are none of the pipeline: what they are worth comes off.
with chats as (
    select
        credit.profile_key,
        credit.day,
        credit.custom_type,
        places.ad_key,
        sum(credit.last_touch) as minor
    from {{ ref('int_credit_days') }} as credit
    inner join {{ ref('int_destinations') }} as places on credit.destination_key = places.destination_key
    where credit.outcome = {{ chats }} and credit.last_touch > 0 and places.ad_key is not null
    group by credit.profile_key, credit.day, credit.custom_type, places.ad_key
)

select
    spans.window_key,
    credit.entity_key as ad_key,
    cast(
        {{ sum_of_days('credit.payment_received + credit.custom_cash', 'credit.day', 'days.day') }} as int
    ) as cash_outcomes,
    cast(sum(credit.cash_minor) as bigint) as cash_minor,
    cast(sum(
        credit.lead_created + credit.appointment_booked + credit.appointment_attended
        + credit.quote_presented + credit.closed_won + credit.custom_pipeline
    ) as int) as pipeline_outcomes,
    cast(sum(credit.pipeline_minor - coalesce(chats.minor, 0)) as bigint) as pipeline_minor,
    cast(sum(credit.dm_started) as int) as dm_started,
    cast(sum({{ outcome_columns() | join(' + ') }}) as int) as outcomes
from {{ ref('credit_daily') }} as credit
inner join {{ ref('int_score_days') }} as days
    on credit.profile_key = days.profile_key and credit.day = days.day
inner join {{ ref('int_score_spans') }} as spans on days.span_key = spans.span_key
left join chats
    on
        credit.profile_key = chats.profile_key
        and credit.day = chats.day
        and credit.entity_key = chats.ad_key
        and credit.custom_type = chats.custom_type
where credit.model = 'last_touch' and credit.level = 'ad'
group by spans.window_key, credit.entity_key
