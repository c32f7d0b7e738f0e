with ranked as (
    select
        *,
        row_number() over (
            partition by _profile_id, kind_a, value_a, kind_b, value_b
            order by updated_at desc nulls last, _seq desc, _line desc
        ) as recency
    from {{ source('lake', 'identities') }}
),

standing as (
    select
        *,
        min(case when _deleted then recency end) over (
            partition by _profile_id, kind_a, value_a, kind_b, value_b
        ) as withdrawn
    from ranked
)

-- Who is seen twice was seen at the first time: a row that tells when it was changed corrects, any other adds.
select
    _profile_id as profile_id,
    kind_a,
    value_a,
    kind_b,
    value_b,
    case
        when max(updated_at) is null then min(observed_at)
        else max(case when recency = 1 then observed_at end)
    end as observed_at,
    case
        when max(updated_at) is null then min(confidence)
        else max(case when recency = 1 then confidence end)
    end as confidence,
    max(case when recency = 1 then _source end) as landed_from,
    max(case when recency = 1 then _loaded_at end) as loaded_at
from standing
where withdrawn is null or recency < withdrawn
group by _profile_id, kind_a, value_a, kind_b, value_b
