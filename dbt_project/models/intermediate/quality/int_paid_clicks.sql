{{ by_person() }}

{% set labels = ['landing_host', 'utm_source', 'utm_medium', 'utm_campaign', 'click_id_type'] %}

with clicks as (
    select
        touches.profile_key,
        touches.person_key,
        touches.ts,
        touches.pos_l,
        touches.record_no,
        coalesce(places.platform, '') as platform,
        places.ad_key
    from {{ changed_rows('int_touches') }} as touches
    inner join {{ ref('int_destinations') }} as places on touches.destination_key = places.destination_key
    where places.reason is null or places.reason in ('unknown_ad', 'paid_without_ad')
),

carried as (
    select record_no, ad_id, ad_set_id, campaign_id, click_id_type
    from {{ changed_rows('int_visits') }}
    union all
    select record_no, ad_id, ad_set_id, campaign_id, click_id_type
    from {{ changed_rows('int_record_touches') }}
),

-- What a click carried is asked only of those that name no ad: for most it would be a join of all touches in vain.
reasoned as (
    select
        profile_key,
        person_key,
        ts,
        pos_l,
        platform,
        'named' as reason
        {%- for label in labels %},
        '' as {{ label }}
        {%- endfor %}
    from clicks
    where ad_key is not null

    union all

    select
        clicks.profile_key,
        clicks.person_key,
        clicks.ts,
        clicks.pos_l,
        clicks.platform,
        case
            when coalesce(carried.ad_id, carried.ad_set_id, carried.campaign_id) is null then 'no_ad_parameter'
            when carried.ad_id is null then 'parent_only'
            else coalesce({{ ad_id_fault('carried.ad_id') }}, 'unknown_ad_id')
        end as reason
        {%- for label in labels %},
        coalesce({{ 'carried' if label == 'click_id_type' else 'labels' }}.{{ label }}, '') as {{ label }}
        {%- endfor %}
    from clicks
    inner join carried on clicks.record_no = carried.record_no
    inner join {{ ref('int_touch_labels') }} as labels on clicks.record_no = labels.record_no
    where clicks.ad_key is null
)

select
    reasoned.profile_key,
    reasoned.person_key,
    reasoned.ts,
    reasoned.pos_l,
    calendar.local_date as day,
    reasoned.platform,
    reasoned.reason
    {%- for label in labels %},
        reasoned.{{ label }}
    {%- endfor %}
from reasoned
inner join {{ ref('int_profiles') }} as profiles on reasoned.profile_key = profiles.profile_key
inner join {{ ref('stg_app__calendar') }} as calendar on {{ on_local_day('reasoned.ts') }}
