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
),

chosen as (
    select profile_id, level, platform, platform_id, ad_account_id, campaign_id, ad_set_id
    from best
    where choice = 1
)

select
    p.profile_key,
    p.profile_id,
    c.level,
    c.platform,
    c.platform_id,
    c.ad_account_id,
    -- one tree, whatever an ad's own record says of its ad set's campaign: else levels would not add up
    coalesce(s.campaign_id, c.campaign_id) as campaign_id,
    c.ad_set_id
from chosen as c
inner join {{ ref('int_profiles') }} as p on c.profile_id = p.profile_id
left join chosen as s
    on c.level = 'ad' and s.level = 'ad_set'
    and c.profile_id = s.profile_id and c.platform = s.platform and c.ad_set_id = s.platform_id
