select
    profile_key,
    level,
    entity_key,
    entity_id,
    platform,
    platform_id,
    name,
    status,
    objective,
    cast(daily_budget_minor as bigint) as daily_budget_minor,
    budget_currency,
    campaign_key,
    ad_set_key,
    parent_name,
    campaign_platform_id,
    ad_set_platform_id
from {{ ref('int_entities') }}
