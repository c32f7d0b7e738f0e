{#- rank 1: the platform's own record; 2: delivery of a day; 3: named as a parent by a synced child. -#}
with delivered as (
    select
        profile_id, platform, ad_id, ad_set_id, campaign_id, ad_account_id, max(date) as seen_on
    from {{ ref('stg_ad_platform__delivery') }}
    group by profile_id, platform, ad_id, ad_set_id, campaign_id, ad_account_id
),

sightings as (
    select profile_id, 'campaign' as level, platform, campaign_id as platform_id, ad_account_id,
        cast(null as {{ dbt.type_string() }}) as campaign_id, cast(null as {{ dbt.type_string() }}) as ad_set_id,
        1 as rank, cast(null as date) as seen_on
    from {{ ref('stg_ad_platform__campaigns') }}
    union all
    select profile_id, 'campaign', platform, campaign_id, ad_account_id, null, null, 2, seen_on from delivered
    union all
    select profile_id, 'campaign', platform, campaign_id, null, null, null, 3, null
    from {{ ref('stg_ad_platform__ad_sets') }}
    union all
    select profile_id, 'campaign', platform, campaign_id, null, null, null, 3, null
    from {{ ref('stg_ad_platform__ads') }}
    union all
    select profile_id, 'ad_set', platform, ad_set_id, null, campaign_id, null, 1, null
    from {{ ref('stg_ad_platform__ad_sets') }}
    union all
    select profile_id, 'ad_set', platform, ad_set_id, ad_account_id, campaign_id, null, 2, seen_on from delivered
    union all
    select profile_id, 'ad_set', platform, ad_set_id, null, campaign_id, null, 3, null
    from {{ ref('stg_ad_platform__ads') }}
    union all
    select profile_id, 'ad', platform, ad_id, null, campaign_id, ad_set_id, 1, null
    from {{ ref('stg_ad_platform__ads') }}
    union all
    select profile_id, 'ad', platform, ad_id, ad_account_id, campaign_id, ad_set_id, 2, seen_on from delivered
),

best as (
    select *,
        row_number() over (
            partition by profile_id, level, platform, platform_id
            order by
                rank asc,
                seen_on desc nulls last,
                campaign_id asc nulls last,
                ad_set_id asc nulls last,
                ad_account_id asc nulls last
        ) as choice
    from sightings
    where platform_id is not null
)

select p.profile_key, p.profile_id, b.level, b.platform, b.platform_id, b.ad_account_id, b.campaign_id, b.ad_set_id
from best as b
inner join {{ ref('int_profiles') }} as p on b.profile_id = p.profile_id
where b.choice = 1
