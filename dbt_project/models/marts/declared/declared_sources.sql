with answers as (
    select
        profiles.profile_key,
        calendar.local_date as day,
        events.conversion_key,
        {{ touch_keys()['stg_app__conversions'] }} as claim_key,
        events.occurred_s,
        events.answer_key,
        people.person_key
    from {{ ref('int_events') }} as events
    inner join {{ ref('int_profiles') }} as profiles on events.profile_id = profiles.profile_id
    inner join {{ ref('stg_app__calendar') }} as calendar on {{ on_local_day('events.occurred_s') }}
    left join {{ ref('int_identity_keys') }} as people
        on
            profiles.profile_key = people.profile_key
            and events.identity_key = people.identity_key
    where events.answer_key is not null
),

ranked as (
    select
        *,
        row_number() over (partition by profile_key, person_key order by occurred_s, conversion_key) as turn
    from answers
    where person_key is not null
),

-- The first answer on any record of one conversion.
own as (
    select
        *,
        row_number() over (
            partition by profile_key, is_cash, outcome_ref order by occurred_s, conversion_key
        ) as turn
    from (
        select profile_key, false as is_cash, conversion_key as outcome_ref, occurred_s, conversion_key, answer_key
        from answers
        union all
        select
            answers.profile_key,
            true as is_cash,
            claims.payment_ref as outcome_ref,
            answers.occurred_s,
            answers.conversion_key,
            answers.answer_key
        from answers
        inner join {{ ref('int_payment_claims') }} as claims
            on answers.profile_key = claims.profile_key and answers.claim_key = claims.claim_key
    ) as answered
),

-- A conversion that was answered with goes by its own answer, any other of the person by the first one they ever gave.
told as (
    select profile_key, day, answer_key, 1 as answers, 0 as conversions, 0 as cash_minor
    from answers
    union all
    select
        conversions.profile_key,
        conversions.day,
        coalesce(own.answer_key, firsts.answer_key) as answer_key,
        0 as answers,
        1 as conversions,
        coalesce(conversions.cash_minor, 0) as cash_minor
    from {{ ref('int_conversions') }} as conversions
    left join own
        on
            conversions.profile_key = own.profile_key
            and (conversions.revenue_type = 'cash') = own.is_cash
            and conversions.outcome_ref = own.outcome_ref
            and own.turn = 1
    left join ranked as firsts
        on
            conversions.profile_key = firsts.profile_key
            and conversions.person_key = firsts.person_key
            and firsts.turn = 1
    where coalesce(own.answer_key, firsts.answer_key) is not null
)

select
    profile_key,
    day,
    cast(answer_key as {{ dbt.type_string() }}) as answer_key,
    cast(sum(answers) as int) as answers,
    cast(sum(conversions) as int) as conversions,
    cast(sum(cash_minor) as bigint) as cash_minor
from told
group by profile_key, day, answer_key
order by profile_key, day, answer_key
