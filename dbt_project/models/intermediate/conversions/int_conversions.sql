{{ compared([
    'conversion_key', 'conversion_id', 'outcome_ref', 'profile_key', 'person_key', 'ts', 'day',
    'conversion_type', 'revenue_type', 'outcome', 'custom_type', 'cash_minor', 'refunded_minor',
    'pipeline_minor', 'path_conversion_key'
]) }}

{% set is_custom = "numbered.conversion_type not in ('" ~ outcome_types() | join("', '") ~ "')" %}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

numbered as (
    select
        {{ key_of(
            "profiles.profile_id || case when money.revenue_type = 'cash' then ':cash:' else ':' end || money.outcome_ref"
        ) }} as conversion_key,
        money.*
    from {{ ref('int_outcome_money') }} as money
    inner join profiles on money.profile_key = profiles.profile_key
),

refs as (
    select * from {{ ref('int_payment_refs') }}
),

-- A renewal by its payment's name, and the conversion of the first payment, null when we do not know that one.
renewals as (
    select
        refs.profile_key,
        refs.payment_ref,
        max(firsts.conversion_key) as first_key
    from {{ ref('stg_app__recurring_payments') }} as recurring
    inner join profiles on recurring.profile_id = profiles.profile_id
    inner join refs
        on
            profiles.profile_key = refs.profile_key
            and recurring.payment_ref = refs.ref
    left join refs as first_refs
        on
            profiles.profile_key = first_refs.profile_key
            and recurring.first_payment_ref = first_refs.ref
    left join numbered as firsts
        on
            first_refs.profile_key = firsts.profile_key
            and first_refs.payment_ref = firsts.outcome_ref
            and firsts.revenue_type = 'cash'
    where recurring.billing_reason = 'cycle' and profiles.inherit_recurring
    group by refs.profile_key, refs.payment_ref
)

select
    numbered.conversion_key,
    {{ uuid_v8('profiles.profile_id', "'conversion'", 'numbered.outcome_ref') }} as conversion_id,
    numbered.outcome_ref,
    numbered.profile_key,
    numbered.person_key,
    numbered.ts,
    numbered.day,
    numbered.conversion_type,
    numbered.revenue_type,
    case when {{ is_custom }} then 'custom_' || numbered.revenue_type else numbered.conversion_type end as outcome,
    case when {{ is_custom }} then numbered.conversion_type else '' end as custom_type,
    numbered.cash_minor,
    numbered.refunded_minor,
    numbered.pipeline_minor,
    case
        when renewals.payment_ref is null then numbered.conversion_key
        else renewals.first_key
    end as path_conversion_key,
    numbered.is_refund_capped,
    numbered.is_rate_missing
from numbered
inner join profiles on numbered.profile_key = profiles.profile_key
left join renewals
    on
        numbered.revenue_type = 'cash'
        and numbered.profile_key = renewals.profile_key
        and numbered.outcome_ref = renewals.payment_ref
order by numbered.person_key, numbered.conversion_key
