{{ config(meta={
    'description': 'Campaigns, ad sets and ads add up to the same spend each day.',
    'dagster': {'ref': {'name': 'delivery_daily'}}
}) }}

select profile_key, day, count(distinct spend_minor) as totals
from (
    select profile_key, level, day, sum(spend_minor) as spend_minor
    from {{ ref('delivery_daily') }}
    group by profile_key, level, day
) as levels
group by profile_key, day
having count(distinct spend_minor) > 1 or count(*) <> 3
