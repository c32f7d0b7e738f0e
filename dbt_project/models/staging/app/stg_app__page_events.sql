with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id, event_id
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'page_events') }}
)

select
    profile_id,
    event_id,
    event_name,
    occurred_at,
    {{ epoch_seconds('occurred_at') }} as occurred_s,
    anonymous_id,
    session_id,
    opens_visit,
    page_host,
    referrer_host,
    utm_source,
    utm_medium,
    utm_campaign,
    channel,
    country,
    device,
    consent_marketing,
    linked_identifier_id
from ranked
where recency = 1 and not _deleted
