{{ by_person('int_changed_customers', since=none) }}

{% set channels = touch_channels() %}

with people as (
    select
        profile_key,
        person_key,
        min(person_id) as person_ref,
        max(case when kind <> 'anonymous_id' and not {{ is_made_up('value') }} then 1 else 0 end) = 1 as is_known,
        max(case when {{ is_made_up('value') }} then 1 else 0 end) = 1 as is_erased
    from {{ changed_rows('int_person_identifiers', 'int_changed_customers', since=none) }}
    group by profile_key, person_key
),

days as (
    select person_key, min(first_ts) as first_seen, max(last_ts) as last_seen
    from {{ changed_rows('int_person_days', 'int_changed_customers', since=none) }}
    group by person_key
),

outcomes as (
    select
        person_key,
        cast(count(*) as int) as conversions,
        cast(coalesce(sum(cash_minor), 0) as bigint) as cash_minor
    from {{ changed_rows('int_conversions', 'int_changed_customers', since=none) }}
    where person_key is not null
    group by person_key
),

touches as (
    select
        person_key,
        cast(count(*) as int) as touches,
        -- a bit each, so that one number tells all of a person's
        bit_or(cast(1 as int) << cast(channel_no - 1 as int)) as channels
    from {{ changed_rows('int_sightings', 'int_changed_customers', since=none) }}
    group by person_key
),

ads as (
    select firsts.person_key, carried.ad_id
    from {{ changed_rows('int_first_ad_touches', 'int_changed_customers', since=none) }} as firsts
    inner join {{ ref('int_carried_ads') }} as carried on firsts.ad_key = carried.ad_key
)

select
    people.profile_key,
    people.person_key,
    people.person_ref,
    days.first_seen,
    days.last_seen,
    coalesce(outcomes.conversions, 0) as conversions,
    coalesce(outcomes.cash_minor, 0) as cash_minor,
    coalesce(touches.touches, 0) as touches,
    case
        when touches.channels is not null
            then concat_ws(
                ','
                {%- for channel in channels %},
                case when touches.channels & {{ 2 ** loop.index0 }} <> 0 then '{{ channel }}' end
                {%- endfor %}
            )
    end as touch_channels,
    ads.ad_id as first_ad_external_id
from people
inner join days on people.person_key = days.person_key
left join outcomes on people.person_key = outcomes.person_key
left join touches on people.person_key = touches.person_key
left join ads on people.person_key = ads.person_key
-- Who is only a browser is a visitor; who was erased is nobody.
where people.is_known or (not people.is_erased and outcomes.conversions > 0)
order by people.profile_key, people.person_key
