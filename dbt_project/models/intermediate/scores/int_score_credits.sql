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
    cast(sum(credit.pipeline_minor) as bigint) as pipeline_minor,
    cast(sum(credit.dm_started) as int) as dm_started,
    cast(sum({{ outcome_columns() | join(' + ') }}) as int) as outcomes
from {{ ref('credit_daily') }} as credit
inner join {{ ref('int_score_days') }} as days
    on credit.profile_key = days.profile_key and credit.day = days.day
inner join {{ ref('int_score_spans') }} as spans on days.span_key = spans.span_key
where credit.model = 'last_touch' and credit.level = 'ad'
group by spans.window_key, credit.entity_key
