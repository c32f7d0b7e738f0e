{{ by_person() }}

with carried as (
    select record_no, ad_id, ad_set_id, campaign_id, click_id_type
    from {{ changed_rows('int_visits') }}
    union all
    select record_no, ad_id, ad_set_id, campaign_id, click_id_type
    from {{ changed_rows('int_record_touches') }}
),

reasoned as (
    select
        touches.profile_key,
        touches.person_key,
        touches.pos_l,
        touches.ts,
        touches.record_no,
        carried.click_id_type,
        places.platform,
        case
            when places.ad_key is not null then 'named'
            when coalesce(carried.ad_id, carried.ad_set_id, carried.campaign_id) is null then 'no_ad_parameter'
            when carried.ad_id is null then 'parent_only'
            else coalesce({{ ad_id_fault('carried.ad_id') }}, 'unknown_ad_id')
        end as reason
    from {{ changed_rows('int_touches') }} as touches
    inner join {{ ref('int_destinations') }} as places on touches.destination_key = places.destination_key
    inner join carried on touches.record_no = carried.record_no
    where places.reason is null or places.reason in ('unknown_ad', 'paid_without_ad')
)

select
    reasoned.profile_key,
    reasoned.person_key,
    reasoned.ts,
    reasoned.pos_l,
    calendar.local_date as day,
    coalesce(reasoned.platform, '') as platform,
    reasoned.reason,
    {%- for label in ['landing_host', 'utm_source', 'utm_medium', 'utm_campaign'] %}
        case when reasoned.reason = 'named' then '' else coalesce(labels.{{ label }}, '') end as {{ label }},
    {%- endfor %}
    case when reasoned.reason = 'named' then '' else coalesce(reasoned.click_id_type, '') end as click_id_type
from reasoned
inner join {{ ref('int_profiles') }} as profiles on reasoned.profile_key = profiles.profile_key
inner join {{ ref('stg_app__calendar') }} as calendar on {{ on_local_day('reasoned.ts') }}
inner join {{ ref('int_touch_labels') }} as labels on reasoned.record_no = labels.record_no
