with labels as (
    select
        profile_id,
        touch_key,
        utm_source,
        utm_medium,
        utm_campaign,
        ad_id,
        is_paid,
        1 as turn
    from {{ ref('stg_app__touches') }}

    union all

    select
        profile_id,
        'conversation:' || conversation_id as touch_key,
        cast(null as {{ dbt.type_string() }}) as utm_source,
        cast(null as {{ dbt.type_string() }}) as utm_medium,
        cast(null as {{ dbt.type_string() }}) as utm_campaign,
        ad_id,
        true as is_paid,
        1 + row_number() over (
            partition by profile_id, conversation_id
            order by case when seen_live then 0 else 1 end, occurred_s, referral_id
        ) as turn
    from {{ ref('stg_app__ad_referrals') }}

    union all

    select
        profile_id,
        'conversion:' || conversion_key as touch_key,
        utm_source,
        utm_medium,
        utm_campaign,
        ad_id,
        cast(null as boolean) as is_paid,
        2 as turn
    from {{ ref('stg_app__conversions') }}

    union all

    select
        profile_id,
        'order:' || connection_ref || ':' || order_id as touch_key,
        utm_source,
        utm_medium,
        utm_campaign,
        ad_id,
        cast(null as boolean) as is_paid,
        2 as turn
    from {{ ref('stg_store__orders') }}
),

-- Keys of one kind may be spelt like those of another; a label never makes two touches of one.
ranked as (
    select
        *,
        row_number() over (partition by profile_id, touch_key order by turn) as choice
    from labels
)

select
    profiles.profile_key,
    ranked.touch_key,
    ranked.utm_source,
    ranked.utm_medium,
    ranked.utm_campaign,
    ranked.ad_id,
    ranked.is_paid
from ranked
inner join {{ ref('int_profiles') }} as profiles on ranked.profile_id = profiles.profile_id
where ranked.choice = 1
