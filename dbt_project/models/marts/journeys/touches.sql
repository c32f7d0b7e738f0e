{{ by_person() }}

-- Ids come before the join: their MD5 takes as long, but the long texts that they are made of need not come with it.
with labels as (
    select
        record_no,
        {{ stored_uuid_v8('profile_id', "'touch'", 'touch_key') }} as touch_id,
        channel,
        origin,
        utm_source,
        utm_medium,
        utm_campaign,
        ad_id,
        is_paid
    from {{ ref('int_touch_labels') }}
    {% if keeps_own_rows() -%}
        where record_no in (select record_no from {{ changed_rows('int_touches') }})
    {%- endif %}
)

select
    touches.profile_key,
    touches.person_key,
    touches.pos_l as position,
    touches.pos_f as first_position,
    labels.touch_id,
    touches.ts,
    labels.channel,
    labels.origin,
    labels.utm_source as source,
    labels.utm_medium as medium,
    labels.utm_campaign as campaign_label,
    labels.ad_id as ad_external_id,
    touches.destination_key,
    touches.is_direct,
    -- A record's own parameters are paid for unless they lead to no ad, no platform and no paid medium.
    coalesce(labels.is_paid, coalesce(destinations.reason, '') not in ('direct', 'other_channel')) as is_paid
from {{ changed_rows('int_touches') }} as touches
inner join {{ ref('int_destinations') }} as destinations on touches.destination_key = destinations.destination_key
inner join labels on touches.record_no = labels.record_no
order by touches.profile_key, touches.person_key, touches.pos_l
