{{ config(meta={
    'description': "Every day of an ad's delivery that landed is in the mart.",
    'dagster': {'ref': {'name': 'delivery_daily'}}
}) }}

-- Every staged ad-day of an active profile is in the mart, also those whose entities were never synced.
with staged as (
    select p.profile_key, count(d.ad_id) as ad_days
    from {{ ref('int_profiles') }} as p
    left join {{ ref('stg_ad_platform__delivery') }} as d on p.profile_id = d.profile_id
    group by p.profile_key
),

served as (
    select profile_key, count(*) as ad_days
    from {{ ref('delivery_daily') }}
    where level = 'ad'
    group by profile_key
)

select staged.profile_key, staged.ad_days, served.ad_days as served
from staged
left join served on staged.profile_key = served.profile_key
where staged.ad_days <> coalesce(served.ad_days, 0)
