{{ config(meta={
    'description': 'Ads add up to no more than their ad set, ad sets to no more than their campaign.',
    'dagster': {'ref': {'name': 'credit_daily'}}
}) }}

-- Per model and day: the cash of the children of an entity adds up to at most its own, and no child counts more
-- conversions than its parent.
with credit as (
    select
        profile_key,
        model,
        level,
        day,
        entity_key,
        custom_type,
        cash_minor,
        {{ outcome_columns() | join(' + ') }} as n
    from {{ ref('credit_daily') }}
),

children as (
    select
        credit.profile_key,
        credit.model,
        credit.day,
        credit.custom_type,
        case when credit.level = 'ad' then entities.ad_set_key else entities.campaign_key end as parent_key,
        sum(credit.cash_minor) as cash_minor,
        max(credit.n) as n
    from credit
    inner join {{ ref('int_entities') }} as entities on credit.entity_key = entities.entity_key
    where credit.level <> 'campaign'
    group by 1, 2, 3, 4, 5
)

select children.*
from children
left join credit as parents
    on
        children.profile_key = parents.profile_key
        and children.model = parents.model
        and children.day = parents.day
        and children.custom_type = parents.custom_type
        and children.parent_key = parents.entity_key
where
    parents.entity_key is null
    or children.cash_minor > parents.cash_minor
    or children.n > parents.n
