{{ compared([
    'profile_key', 'platform_id', 'level', 'platform', 'entity_key', 'ad_key', 'ad_set_key', 'campaign_key'
]) }}

with keyed as (
    select
        {{ key_of("profile_id || ':' || level || ':' || platform || ':' || platform_id") }} as entity_key,
        {{ uuid_v8('profile_id', 'level', "platform || ':' || platform_id") }} as entity_id,
        *
    from {{ ref('int_entity_sightings') }}
),

labels as (
    select profile_id, 'campaign' as level, platform, campaign_id as platform_id, name, status, daily_budget_minor
    from {{ ref('stg_ad_platform__campaigns') }}
    union all
    select profile_id, 'ad_set', platform, ad_set_id, name, status, daily_budget_minor
    from {{ ref('stg_ad_platform__ad_sets') }}
    union all
    select profile_id, 'ad', platform, ad_id, name, status, null
    from {{ ref('stg_ad_platform__ads') }}
),

placed as (
    select
        e.*,
        case when e.level = 'campaign' then e.entity_key else c.entity_key end as campaign_key,
        case when e.level = 'ad_set' then e.entity_key else s.entity_key end as ad_set_key,
        coalesce(e.campaign_id, e.platform_id) as of_campaign,
        coalesce(c.ad_account_id, e.ad_account_id) as of_account
    from keyed as e
    left join keyed as c
        on e.profile_key = c.profile_key and c.level = 'campaign'
        and e.platform = c.platform and e.campaign_id = c.platform_id
    left join keyed as s
        on e.profile_key = s.profile_key and s.level = 'ad_set'
        and e.platform = s.platform and e.ad_set_id = s.platform_id
)

select
    p.entity_key,
    p.profile_key,
    p.level,
    p.platform,
    p.platform_id,
    p.entity_id,
    coalesce(l.name, p.platform_id) as name,
    l.status,
    c.objective,
    l.daily_budget_minor,
    case when l.daily_budget_minor is not null then a.currency end as budget_currency,
    p.campaign_key,
    p.ad_set_key,
    case when p.level = 'ad' then p.entity_key end as ad_key,
    p.campaign_id as campaign_platform_id,
    p.ad_set_id as ad_set_platform_id,
    p.of_account as ad_account_id,
    case
        when p.level = 'ad' then coalesce(sl.name, p.ad_set_id)
        when p.level = 'ad_set' then coalesce(c.name, p.campaign_id)
    end as parent_name
from placed as p
left join labels as l
    on p.profile_id = l.profile_id and p.level = l.level and p.platform = l.platform and p.platform_id = l.platform_id
left join labels as sl
    on p.profile_id = sl.profile_id and sl.level = 'ad_set' and p.platform = sl.platform
    and p.ad_set_id = sl.platform_id
left join {{ ref('stg_ad_platform__campaigns') }} as c
    on p.profile_id = c.profile_id and p.platform = c.platform and p.of_campaign = c.campaign_id
left join {{ ref('stg_ad_platform__ad_accounts') }} as a
    on p.profile_id = a.profile_id and p.platform = a.platform and p.of_account = a.ad_account_id
