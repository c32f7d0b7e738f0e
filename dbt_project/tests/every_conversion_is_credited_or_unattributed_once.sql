{{ config(meta={'dagster': {'ref': {'name': 'credit_daily'}}}) }}

-- Under every model and level, per type and day: conversions credited to any entity + unattributed ones = all of them.
-- Under single-touch models the rows of the mart are those credited conversions; under multi-touch models rows overlap,
-- so there the credited ones are counted distinct, and the mart's rows are compared with distinct pairs.
-- Distinct by one parent within the other: to count each of three apart costs twice as much, on the longest table.
with ad_sets as (
    select
        credits.conversion_key,
        destinations.campaign_key,
        destinations.ad_set_key,
        -- a path has one row for each destination, and an ad is one
        count(destinations.ad_key) as ads
    from {{ ref('int_credits') }} as credits
    inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
    group by credits.conversion_key, destinations.campaign_key, destinations.ad_set_key
),

campaigns as (
    select conversion_key, campaign_key, count(ad_set_key) as ad_sets, sum(ads) as ads
    from ad_sets
    group by conversion_key, campaign_key
),

credited as (
    select
        conversion_key as path_conversion_key,
        count(campaign_key) as campaign_pairs,
        sum(ad_sets) as ad_set_pairs,
        sum(ads) as ad_pairs
    from campaigns
    group by conversion_key
),

truth as (
    {% for level in entity_levels() -%}
        select
            conversions.profile_key,
            conversions.day,
            conversions.outcome as conversion_type,
            '{{ level.name }}' as level,
            count(*) as n,
            sum(case when credited.{{ level.name }}_pairs > 0 then 1 else 0 end) as credited_n,
            sum(coalesce(credited.{{ level.name }}_pairs, 0)) as pairs
        from {{ ref('int_conversions') }} as conversions
        left join credited on conversions.path_conversion_key = credited.path_conversion_key
        group by conversions.profile_key, conversions.day, conversions.outcome
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

told as (
    {% for outcome in outcome_columns() -%}
        select profile_key, model, level, day, '{{ outcome }}' as conversion_type, {{ outcome }} as row_n, 0 as rest_n
        from {{ ref('credit_daily') }}
        union all
        select profile_key, model, level, day, '{{ outcome }}', 0, {{ outcome }} from {{ ref('unattributed_daily') }}
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

added as (
    select profile_key, model, level, day, conversion_type, sum(row_n) as row_n, sum(rest_n) as rest_n
    from told
    group by profile_key, model, level, day, conversion_type
),

models as (
    {% for model in credit_models() -%}
        select '{{ model.name }}' as model, {{ 'true' if model.bit else 'false' }} as is_single
        {{ 'union all' if not loop.last }}
    {% endfor %}
)

select truth.*, models.model, added.row_n, added.rest_n
from truth
cross join models
left join added
    on
        truth.profile_key = added.profile_key
        and truth.day = added.day
        and truth.conversion_type = added.conversion_type
        and truth.level = added.level
        and models.model = added.model
where
    case
        when models.is_single then coalesce(added.row_n, 0) + coalesce(added.rest_n, 0) <> truth.n
        else coalesce(added.row_n, 0) <> truth.pairs or truth.credited_n + coalesce(added.rest_n, 0) <> truth.n
    end
