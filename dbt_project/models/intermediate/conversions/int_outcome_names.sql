{% set sources = ['payments', 'store', 'store', 'server_event', 'crm', 'chat', 'tracker', 'file'] %}

with statements as (
    select
        profile_key,
        true as is_cash,
        payment_ref as outcome_ref,
        source_rank,
        claim_key
    from {{ ref('int_payment_claims') }}

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
    inner join {{ ref('int_profiles') }} as profiles on conversions.profile_id = profiles.profile_id
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
    best.profile_key,
    best.is_cash,
    best.outcome_ref,
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
inner join {{ ref('int_profiles') }} as profiles on best.profile_key = profiles.profile_key
