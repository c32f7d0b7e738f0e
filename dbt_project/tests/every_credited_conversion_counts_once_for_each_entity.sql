{{ config(meta={
    'description': 'A multi-touch model counts a conversion once for each entity with credit for it.',
    'dagster': {'ref': {'name': 'credit_daily'}}
}) }}

-- Under every multi-touch model and level, per type and day: rows of the mart = distinct pairs of a conversion and an
-- entity with credit for it, and conversions with any such pair + unattributed ones = all of them.
-- Distinct by one parent within the other: to count each of three apart costs twice as much, on the longest table. A
-- build that keeps rows asks this of the days that it made anew.
with {{ counts_told() }},

conversions as (
    select profile_key, day, outcome, path_conversion_key
    from {{ judged_rows('int_conversions', 'int_changed_days', ['profile_key', 'day']) }}
),

ad_sets as (
    select
        credits.conversion_key,
        destinations.campaign_key,
        destinations.ad_set_key,
        -- a path has one row for each destination, and an ad is one
        count(destinations.ad_key) as ads
    from {{ ref('int_credits') }} as credits
    inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
    {% if judges_what_came() -%}
        where credits.conversion_key in (select conversions.path_conversion_key from conversions)
    {% endif -%}
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
        from conversions
        left join credited on conversions.path_conversion_key = credited.path_conversion_key
        group by conversions.profile_key, conversions.day, conversions.outcome
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

models as (
    {% for model in credit_models() if not model.bit -%}
        select '{{ model.name }}' as model
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
    coalesce(added.row_n, 0) <> truth.pairs
    or truth.credited_n + coalesce(added.rest_n, 0) <> truth.n
