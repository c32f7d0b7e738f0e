{% set key = ['_profile_id', 'kind_a', 'value_a', 'kind_b', 'value_b'] %}

with {{ versions(source('lake', 'identities'), key) }},

standing as (
    select
        *,
        max(case when recency = 1 and updated_at is not null then {{ record_no() }} end) over (
            partition by {{ key | join(', ') }}
        ) as corrected,
        max(case when recency = 1 and _deleted then 1 else 0 end) over (
            partition by {{ key | join(', ') }}
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
    min(observed_at) as observed_at,
    -- certain comes before typed in the alphabet too
    min(confidence) as confidence,
    max(case when recency = 1 then _source end) as landed_from,
    max(_loaded_at) as loaded_at
from standing
where
    withdrawn = 0
    and not _deleted
    and (recency = 1 or corrected is null or (updated_at is null and {{ record_no() }} > corrected))
group by {{ key | join(', ') }}
