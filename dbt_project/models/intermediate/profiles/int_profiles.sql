{{ compared([
    'profile_key', 'profile_id', 'time_zone', 'currency', 'currency_digits', 'lookback_s', 'ln2_over_hl',
    'inherit_recurring'
]) }}

select
    cast(row_number() over (order by profile_id) as int) as profile_key,
    profile_id,
    coalesce(workspace_id, profile_id) as workspace_id,
    time_zone,
    currency,
    cast(currency_digits as int) as currency_digits,
    cast(lookback_days as int) as lookback_days,
    cast(half_life_days as int) as half_life_days,
    cast(lookback_days * 86400 as bigint) as lookback_s,
    6.931471805599453e-1 / (half_life_days * 86400) as ln2_over_hl,
    inherit_recurring,
    settings_version
from {{ ref('stg_app__profiles') }}
where is_active
