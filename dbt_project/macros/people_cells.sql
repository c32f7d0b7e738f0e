{# People and touches by day and day before, once for each scope: everything, one channel, one origin, one channel and
   origin; `all` stands where a scope does not ask. Scopes overlap, so figures of different scopes are never added.
   With `of_ads` every scope is cut by ad as well. In a build that keeps rows, what the changed people
   add to the cells now, less what they added before. #}
{% macro people_cells(of_ads) -%}
    {%- set keys = ['profile_key', 'channel', 'origin'] + (['ad_key'] if of_ads else []) + ['day', 'prev'] -%}
    {%- set numbers = ['profile_key', 'channel_no', 'origin_no'] + keys[3:] -%}
    {{ added_up(keys, ['people', 'touches']) }}
    {%- do _mention('int_changed_paths') -%}
    {%- if keeps_own_rows() -%}
with kept as (
    select kept.*, changed.day as since
    from {{ ref('int_ad_days') }} as kept
    inner join {{ ref('int_changed_paths') }} as changed on kept.person_key = changed.person_key
),

-- The day before the first one that may have changed is met by what was and by what is, and counts for neither.
before as (
    select
        kept.profile_key, kept.person_key,{{ ' kept.ad_key,' if of_ads }} kept.channel_no, kept.origin_no,
        max(kept.day) as day, 0 as touches
    from kept
    {% if of_ads -%}
    inner join (
        select person_key, ad_key from kept
        where day >= since
        union
        select person_key, ad_key from changes.gone_int_ad_days
    ) as met on kept.person_key = met.person_key and kept.ad_key = met.ad_key
    {% endif -%}
    where kept.day < kept.since
    group by all
),

days_now as (
    select * exclude (since) from kept
    where day >= since
    union all by name
    select * from before
),

days_gone as (
    select * from changes.gone_int_ad_days
    union all by name
    select * from before
),

cells as (
    select {{ numbers | join(', ') }}, cast(sum(people) as int) as people, cast(sum(touches) as int) as touches
    from (
        select * from ({{ cells_of_days('days_now', of_ads) }})
        union all by name
        select * replace (-people as people, -touches as touches) from ({{ cells_of_days('days_gone', of_ads) }})
    )
    group by {{ numbers | join(', ') }}
    having sum(people) <> 0 or sum(touches) <> 0
)
    {%- else -%}
with cells as (
    {{ cells_of_days(ref('int_ad_days'), of_ads) }}
)
    {%- endif %}

select
    profile_key,
    {{ word_of('channel_no', touch_channels()) }} as channel,
    {{ word_of('origin_no', touch_origins()) }} as origin,
    {{ keys[3:] | join(', ') }},
    people,
    touches
from cells
{% if not keeps_own_rows() -%}
-- The order of the grain. One number stands for its first three columns: by six, the sort takes three times as long.
order by
    (cast(profile_key as bigint) * {{ touch_channels() | length + 1 }} + channel_no)
    * {{ touch_origins() | length + 1 }} + origin_no,
    day, {{ 'ad_key,' if of_ads }} prev
{%- endif %}
{%- endmacro %}
