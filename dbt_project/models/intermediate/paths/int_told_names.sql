{{ kept_by(['person_key'], 'int_changed_people') }}

with turns as (
    select 0 as turn
    {%- for turn in [1, 2, 3] %}
    union all
    select {{ turn }} as turn
    {%- endfor %}
),

told as (
    select
        visits.profile_key,
        visits.person_key,
        visits.record_no,
        labels.touch_key,
        visits.ts,
        visits.click_id,
        visits.ad_id,
        visits.ad_set_id,
        visits.campaign_id,
        {{ named_ad('visits.') }} as named_ad,
        labels.utm_text,
        cast(null as {{ dbt.type_string() }}) as ad_platform,
        {{ is_opened_conversation('visits.origin_no') }} as is_conversation,
        0 as doubt
    from {{ changed_rows('int_arrivals', 'int_changed_people', since=none) }} as visits
    inner join {{ ref('int_touch_labels') }} as labels on visits.record_no = labels.record_no
    where
        -- nobody else's visits are compared with a record
        visits.person_key in (select records.person_key from {{ ref('int_own_parameters') }} as records)
        and visits.record_no not in (select repeats.record_no from {{ ref('int_repeats') }} as repeats)

    union all

    select
        profile_key,
        person_key,
        record_no,
        touch_key,
        ts,
        click_id,
        ad_id,
        ad_set_id,
        campaign_id,
        named_ad,
        utm_text,
        ad_platform,
        false as is_conversation,
        case when is_undated then 2 else 1 end as doubt
    from {{ changed_rows('int_own_parameters', 'int_changed_people', since=none) }}
),

named as (
    select
        told.*,
        turns.turn,
        case turns.turn
            when 0 then coalesce(told.named_ad, told.utm_text, 'platform:' || told.ad_platform)
            when 1 then case when told.ad_id is not null then 'ad_set:' || told.ad_set_id end
            when 2
                then case when coalesce(told.ad_id, told.ad_set_id) is not null then 'campaign:' || told.campaign_id end
            when 3 then case when told.named_ad is not null then told.utm_text end
        end as parameters
    from told
    cross join turns
)

select
    profile_key,
    person_key,
    record_no,
    touch_key,
    ts,
    case when turn = 0 then click_id end as click_id,
    parameters,
    turn > 0 as is_coarser,
    is_conversation,
    doubt
from named
where turn = 0 or parameters is not null
