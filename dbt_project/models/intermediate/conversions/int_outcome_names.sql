{{ by_outcome(told=['conversion_key', 'source', 'event_key', 'outcome_event_id']) }}

{% set sources = ['payments', 'store', 'store', 'server_event', 'crm', 'chat', 'tracker', 'file'] %}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

statements as (
    select
        claims.profile_key,
        true as is_cash,
        claims.payment_ref as outcome_ref,
        claims.source_rank,
        claims.claim_key
    from {{ ref('int_payment_claims') }} as claims
    inner join profiles on claims.profile_key = profiles.profile_key
    {{ only_changed_outcomes('profiles.profile_id', true, 'claims.payment_ref') }}

    union all

    select
        profiles.profile_key,
        false as is_cash,
        conversions.conversion_key as outcome_ref,
        case conversions.source
            {%- for source in sources | unique %}
            when '{{ source }}' then {{ sources.index(source) + 1 }}
            {%- endfor %}
            else {{ sources | length }}
        end as source_rank,
        'conversion:' || conversions.conversion_key as claim_key
    from {{ ref('int_events') }} as conversions
    inner join profiles on conversions.profile_id = profiles.profile_id
    {{ only_changed_outcomes('conversions.profile_id', false, 'conversions.conversion_key') }}
    where conversions.revenue_type in ('pipeline', 'gross')
),

-- Ranks below 4 are the processor and the store: their keys are not the caller's own.
ranked as (
    select
        *,
        row_number() over (
            partition by profile_key, is_cash, outcome_ref
            order by case when source_rank >= 4 then 0 else 1 end, source_rank, claim_key
        ) as caller_turn
    from statements
),

best as (
    select
        profile_key,
        is_cash,
        outcome_ref,
        min(source_rank) as source_rank,
        max(case when caller_turn = 1 and source_rank >= 4 then substr(claim_key, 12) end) as event_key,
        max(case when caller_turn = 1 then source_rank end) = 4 as is_event
    from ranked
    group by profile_key, is_cash, outcome_ref
)

select
    case
        when best.is_cash then {{ outcome_key('profiles.profile_id', true, 'best.outcome_ref') }}
        else {{ outcome_key('profiles.profile_id', false, 'best.outcome_ref') }}
    end as conversion_key,
    case best.source_rank
        {%- for source in sources %}
        when {{ loop.index }} then '{{ source }}'
        {%- endfor %}
    end as source,
    best.event_key,
    case
        when best.is_event then {{ uuid_v8('profiles.profile_id', "'event'", 'best.event_key') }}
    end as outcome_event_id
from best
inner join profiles on best.profile_key = profiles.profile_key
