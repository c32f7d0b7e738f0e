{% set gaps = gap_reasons() %}

with entities as (
    select * from {{ ref('int_entities') }}
),

profiles as (
    select * from {{ ref('int_profiles') }}
),

places as (
    select
        entity_key as destination_key,
        profile_key,
        cast(entity_key as {{ dbt.type_string() }}) as place,
        entity_id as destination_id,
        cast(null as {{ dbt.type_string() }}) as reason,
        platform,
        ad_key,
        ad_set_key,
        campaign_key
    from entities

    union all

    select
        {{ key_of("profiles.profile_id || ':destination:' || seen.place") }} as destination_key,
        seen.profile_key,
        seen.place,
        {{ uuid_v8('profiles.profile_id', "'destination'", 'seen.place') }} as destination_id,
        seen.reason,
        seen.platform,
        cast(null as bigint) as ad_key,
        cast(null as bigint) as ad_set_key,
        cast(null as bigint) as campaign_key
    from (
        select
            profile_key,
            place,
            split_part(place, ':', 1) as reason,
            split_part(place, ':', 2) as platform
        from {{ ref('int_sightings') }}
        where place like '%:%'
        group by profile_key, place
    ) as seen
    inner join profiles on seen.profile_key = profiles.profile_key
)

select
    destination_key,
    profile_key,
    place,
    destination_id,
    reason,
    platform,
    ad_key,
    ad_set_key,
    campaign_key,
    {% for level in entity_levels() -%}
        case
            when {{ level.key }} is not null then 0
            {% for gap in gaps if gap not in ('parent_only', 'no_touch') -%}
                when reason = '{{ gap }}' then {{ gaps.index(gap) + 1 }}
            {% endfor -%}
            else {{ gaps.index('parent_only') + 1 }}
        end as {{ level.gap }}{{ ',' if not loop.last }}
    {% endfor %}
from places
