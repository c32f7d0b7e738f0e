with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, kind_a, value_a, kind_b, value_b
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'identities') }}
)

select
    _profile_id as profile_id,
    kind_a,
    value_a,
    kind_b,
    value_b,
    observed_at,
    confidence,
    _source as landed_from,
    _loaded_at as loaded_at
from ranked
where recency = 1 and not _deleted
