{{ compared(['record_no']) }}

with pages as (
    select
        profile_id,
        record_no,
        {{ lower_of('referrer_host') }} as host
    from {{ ref('stg_app__touches') }}
    where
        referrer_host is not null
        and click_id is null
        and not coalesce(is_paid, false)
        and {{ named_ad() }} is null
        and {{ utm_text() }} is null
),

referrers as (
    select distinct
        profile_id,
        host
    from pages
),

inside as (
    select distinct
        referrers.profile_id,
        referrers.host
    from referrers
    inner join {{ ref('stg_app__own_hosts') }} as own
        on
            referrers.profile_id = own.profile_id
            and (referrers.host = own.host or referrers.host like '%.' || own.host)
)

select pages.record_no
from pages
inner join inside
    on
        pages.profile_id = inside.profile_id
        and pages.host = inside.host
