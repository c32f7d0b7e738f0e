{{ by_person('int_changed_people') }}
{{ packed(plain=['person_key', 'repeat_key', 'is_direct', 'is_paid']) }}

with profiles as (
    select * from {{ ref('int_profiles') }}
),

arrivals as (
    select
        profile_id,
        identity_key,
        record_no,
        case when {{ named_ad() }} is not null or click_id is not null then touch_key end as repeat_key,
        occurred_s as ts,
        {{ number_of('channel', touch_channels()) }} as channel_no,
        {{ number_of('origin', touch_origins()) }} as origin_no,
        ad_platform,
        ad_id,
        ad_set_id,
        campaign_id,
        is_direct,
        is_paid,
        click_id_type,
        click_id,
        session_id,
        1 as opening
    from {{ ref('stg_app__touches') }} as touches
    where not exists (
        select 1
        from {{ ref('int_returns') }} as returns
        where returns.record_no = touches.record_no
    )

    union all

    select
        profile_id,
        identity_key,
        record_no,
        {{ touch_keys()['stg_app__ad_referrals'] }} as repeat_key,
        occurred_s as ts,
        {{ number_of('channel', touch_channels()) }} as channel_no,
        {{ number_of(referral_origin(), touch_origins()) }} as origin_no,
        ad_platform,
        ad_id,
        cast(null as {{ dbt.type_string() }}) as ad_set_id,
        cast(null as {{ dbt.type_string() }}) as campaign_id,
        false as is_direct,
        true as is_paid,
        cast(null as {{ dbt.type_string() }}) as click_id_type,
        click_id,
        cast(null as {{ dbt.type_string() }}) as session_id,
        row_number() over (
            partition by profile_id, conversation_id
            order by case when seen_live then 0 else 1 end, occurred_s, referral_id
        ) as opening
    from {{ ref('stg_app__ad_referrals') }}
)

select
    profiles.profile_key,
    people.person_key,
    arrivals.record_no,
    arrivals.repeat_key,
    arrivals.ts,
    arrivals.channel_no,
    arrivals.origin_no,
    arrivals.ad_platform,
    arrivals.ad_id,
    arrivals.ad_set_id,
    arrivals.campaign_id,
    arrivals.is_direct,
    arrivals.is_paid,
    arrivals.click_id_type,
    arrivals.click_id,
    arrivals.session_id
from arrivals
inner join profiles on arrivals.profile_id = profiles.profile_id
inner join {{ ref('int_identity_keys') }} as people
    on
        profiles.profile_key = people.profile_key
        and arrivals.identity_key = people.identity_key
{{ only_changed('int_changed_people', 'people.person_key', 'arrivals.ts') }}
where arrivals.opening = 1
