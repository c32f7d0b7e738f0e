with ranked as (
    select
        *,
        row_number() over (
            partition by profile_id
            order by _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'profiles') }}
)

select
    profile_id,
    workspace_id,
    time_zone,
    currency,
    currency_digits,
    lookback_days,
    half_life_days,
    inherit_recurring,
    settings_version,
    is_active
from ranked
where recency = 1 and not _deleted
