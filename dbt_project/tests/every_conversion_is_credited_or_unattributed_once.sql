{{ config(meta={'dagster': {'ref': {'name': 'credit_daily'}}}) }}

-- Under every model and level, per type and day: conversions credited to any entity + unattributed ones = all of them.
-- Under single-touch models the rows of the mart are those credited conversions; under multi-touch models rows overlap,
-- so there the credited ones are counted distinct, and the mart's rows are compared with distinct pairs.
-- Distinct by one parent within the other: to count each of three apart costs twice as much, on the longest table. In a
-- build that keeps rows only the days that it made anew are counted so; under single-touch models every day is.
with judged as (
    select profile_key, day, outcome, path_conversion_key
    from {{ judged_rows('int_conversions', 'int_changed_days', ['profile_key', 'day']) }} as conversions
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
        where credits.conversion_key in (select judged.path_conversion_key from judged)
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
    select profile_key, day, outcome as conversion_type, count(*) as n
    from {{ ref('int_conversions') }}
    group by profile_key, day, outcome
),

counted as (
    {% for level in entity_levels() -%}
        select
            judged.profile_key,
            judged.day,
            judged.outcome as conversion_type,
            '{{ level.name }}' as level,
            sum(case when credited.{{ level.name }}_pairs > 0 then 1 else 0 end) as credited_n,
            sum(coalesce(credited.{{ level.name }}_pairs, 0)) as pairs
        from judged
        left join credited on judged.path_conversion_key = credited.path_conversion_key
        group by judged.profile_key, judged.day, judged.outcome
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
    {% for model in credit_models() -%}{% for level in entity_levels() -%}
        select '{{ model.name }}' as model, {{ 'true' if model.bit else 'false' }} as is_single, '{{ level.name }}' as level
        {{ 'union all' if not loop.last }}
    {% endfor %}
    {{ 'union all' if not loop.last }}
    {% endfor %}
),

compared as (
    select truth.*, models.model, models.level, models.is_single, added.row_n, added.rest_n
    from truth
    cross join models
    left join added
        on
            truth.profile_key = added.profile_key
            and truth.day = added.day
            and truth.conversion_type = added.conversion_type
            and models.level = added.level
            and models.model = added.model
)

select compared.*, counted.credited_n, counted.pairs
from compared
left join counted
    on
        compared.profile_key = counted.profile_key
        and compared.day = counted.day
        and compared.conversion_type = counted.conversion_type
        and compared.level = counted.level
where
    case
        when compared.is_single then coalesce(compared.row_n, 0) + coalesce(compared.rest_n, 0) <> compared.n
        when counted.level is null then false
        else
            coalesce(compared.row_n, 0) <> counted.pairs
            or counted.credited_n + coalesce(compared.rest_n, 0) <> compared.n
    end
