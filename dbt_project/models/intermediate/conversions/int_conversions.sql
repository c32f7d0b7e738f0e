{{ by_outcome(told=[
    'conversion_key', 'conversion_id', 'outcome_ref', 'profile_key', 'person_key', 'is_shared', 'ts', 'day',
    'conversion_type', 'revenue_type', 'outcome', 'custom_type', 'cash_minor', 'refunded_minor',
    'pipeline_minor', 'path_conversion_key', 'unrated_through'
]) }}

{% set is_custom = "money.conversion_type not in ('" ~ outcome_types() | join("', '") ~ "')" %}

select
    money.conversion_key,
    {{ uuid_v8('profiles.profile_id', "'conversion'", 'money.outcome_ref') }} as conversion_id,
    money.outcome_ref,
    money.profile_key,
    money.person_key,
    money.is_shared,
    money.ts,
    money.day,
    money.conversion_type,
    money.revenue_type,
    case when {{ is_custom }} then 'custom_' || money.revenue_type else money.conversion_type end as outcome,
    case when {{ is_custom }} then money.conversion_type else '' end as custom_type,
    money.cash_minor,
    money.refunded_minor,
    money.pipeline_minor,
    case
        when renewals.payment_ref is null then money.conversion_key
        else renewals.first_key
    end as path_conversion_key,
    money.is_refund_capped,
    money.unrated_through
from {{ changed_outcomes('int_outcome_money') }} as money
inner join {{ ref('int_profiles') }} as profiles on money.profile_key = profiles.profile_key
left join {{ ref('int_renewals') }} as renewals
    on
        money.revenue_type = 'cash'
        and money.profile_key = renewals.profile_key
        and money.outcome_ref = renewals.payment_ref
order by money.person_key, money.conversion_key
