{{ by_person(since='day') }}

with earliest as (
    select person_key, min(ts) as ts
    from {{ changed_rows('int_ad_touches', since='day') }}
    {%- if keeps_own_rows() %}
    where person_key not in (
        select kept.person_key
        from {{ this }} as kept
        inner join {{ ref('int_changed_paths') }} as changed
            on kept.person_key = changed.person_key and kept.day < changed.day
    )
    {%- endif %}
    group by person_key
),

firsts as (
    select
        touches.*,
        count(*) over (partition by touches.person_key) as n
    from {{ changed_rows('int_ad_touches', since='day') }} as touches
    inner join earliest on touches.person_key = earliest.person_key and touches.ts = earliest.ts
),

-- Keys, which are texts, are compared only where a person has several touches in that second.
ranked as (
    select
        firsts.*,
        row_number() over (partition by firsts.person_key order by labels.touch_key) as place
    from firsts
    inner join {{ ref('int_touch_labels') }} as labels on firsts.record_no = labels.record_no
    where firsts.n > 1
)

select profile_key, person_key, day, channel_no, origin_no, ad_key
from firsts
where n = 1
union all
select profile_key, person_key, day, channel_no, origin_no, ad_key
from ranked
where place = 1
