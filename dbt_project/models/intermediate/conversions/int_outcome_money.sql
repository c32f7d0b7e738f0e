{{ by_outcome() }}

{% set digits = 'profiles.currency_digits' %}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

outcomes as (
    select * from {{ changed_outcomes('int_outcomes') }}
),

rates as (
    select * from {{ ref('int_fx_rates') }}
),

-- Taken back in another currency than was paid: converted on the payment's day, like the payment.
foreign_refunds as (
    select
        outcomes.profile_key,
        outcomes.outcome_ref,
        cast(sum({{ minor_units('refunds.refunded', 'rates.rate', digits) }}) as bigint) as minor,
        coalesce(cast(sum({{ minor_units('refunds.by_hand', 'rates.rate', digits) }}) as bigint), 0) as by_hand,
        coalesce(max({{ minor_units('outcomes.only_in_total', 'own_rates.rate', digits) }}), 0) as in_total,
        max(case when rates.rate is null then refunds.refunded_on end) as unrated_on
    from {{ ref('int_refunds') }} as refunds
    inner join outcomes
        on
            refunds.profile_key = outcomes.profile_key
            and refunds.payment_ref = outcomes.outcome_ref
            and outcomes.revenue_type = 'cash'
            and refunds.currency <> outcomes.currency
    inner join profiles on outcomes.profile_key = profiles.profile_key
    left join rates
        on
            outcomes.day = rates.day
            and refunds.currency = rates.base
            and profiles.currency = rates.quote
    left join rates as own_rates
        on outcomes.day = own_rates.day and outcomes.currency = own_rates.base and profiles.currency = own_rates.quote
    group by outcomes.profile_key, outcomes.outcome_ref
),

priced as (
    select
        outcomes.*,
        {{ minor_units('greatest(outcomes.value - outcomes.refunded, 0)', 'rates.rate', digits) }} as minor,
        {{ minor_units('outcomes.value', 'rates.rate', digits) }} as gross_minor,
        -- without what the total of the store, which is in the payment's currency, has taken already
        coalesce(
            foreign_refunds.minor - least(foreign_refunds.in_total, foreign_refunds.minor - foreign_refunds.by_hand), 0
        ) as foreign_minor,
        coalesce(foreign_refunds.by_hand, 0) as foreign_by_hand_minor,
        foreign_refunds.unrated_on
    from outcomes
    inner join profiles on outcomes.profile_key = profiles.profile_key
    left join rates
        on outcomes.day = rates.day and outcomes.currency = rates.base and profiles.currency = rates.quote
    left join foreign_refunds
        on
            outcomes.revenue_type = 'cash'
            and outcomes.profile_key = foreign_refunds.profile_key
            and outcomes.outcome_ref = foreign_refunds.outcome_ref
)

select
    conversion_key,
    profile_key,
    conversion_type,
    revenue_type,
    outcome_ref,
    person_key,
    is_shared,
    ts,
    day,
    case
        when revenue_type = 'cash' and minor is not null then greatest(minor - foreign_minor, 0)
    end as cash_minor,
    case
        when revenue_type = 'cash' and minor is not null
            then coalesce(gross_minor, minor) - greatest(minor - foreign_minor, 0)
        else 0
    end as refunded_minor,
    foreign_minor,
    foreign_by_hand_minor,
    case when revenue_type = 'pipeline' then minor end as pipeline_minor,
    refunded > coalesce(value, 0) or coalesce(foreign_minor > minor, false) as is_refund_capped,
    greatest(case when value is not null and minor is null then day end, unrated_on) as unrated_through
from priced
