with seen as (
    select profile_key, platform from {{ ref('int_entities') }}
    union
    select profile_key, platform
    from {{ ref('int_destinations') }}
    where platform <> ''
    union
    select p.profile_key, a.platform
    from {{ ref('stg_ad_platform__ad_accounts') }} as a
    inner join {{ ref('int_profiles') }} as p on a.profile_id = p.profile_id
),

delivery as (
    select profile_key, platform, min(delivered_to) as delivery_through
    from {{ ref('int_account_days') }}
    where not has_ended_on_platform
    group by profile_key, platform
),

claims as (
    select profile_key, platform, min(platform_basis) as basis, max(platform_basis) as other_basis
    from {{ ref('int_delivery') }}
    where platform_conversions is not null or platform_conversion_value_minor is not null
    group by profile_key, platform
),

unrated as (
    select profile_key, platform, max(day) as unrated_through
    from {{ ref('int_delivery') }}
    where spend > 0 and spend_minor is null
    group by profile_key, platform
)

select
    s.profile_key,
    s.platform,
    cast(
        case when c.basis = c.other_basis then c.basis else 'unknown' end as {{ dbt.type_string() }}
    ) as reported_basis,
    d.delivery_through,
    u.unrated_through
from seen as s
left join delivery as d on s.profile_key = d.profile_key and s.platform = d.platform
left join claims as c on s.profile_key = c.profile_key and s.platform = c.platform
left join unrated as u on s.profile_key = u.profile_key and s.platform = u.platform
order by s.profile_key, s.platform
