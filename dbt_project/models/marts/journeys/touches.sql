{{ by_person() }}

select
    touches.profile_key,
    touches.person_key,
    touches.pos_l as position,
    touches.pos_f as first_position,
    {{ stored_uuid_v8('profiles.profile_id', "'touch'", 'labels.touch_key') }} as touch_id,
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
inner join {{ ref('int_profiles') }} as profiles on touches.profile_key = profiles.profile_key
inner join {{ ref('int_destinations') }} as destinations on touches.destination_key = destinations.destination_key
inner join {{ ref('int_touch_labels') }} as labels on touches.record_no = labels.record_no
order by touches.profile_key, touches.person_key, touches.pos_l
