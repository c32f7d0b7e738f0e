with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, platform, ad_account_id
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'ad_accounts') }}
)

select
    _profile_id as profile_id,
    platform,
    ad_account_id,
    name,
    currency,
    timezone,
    status,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
