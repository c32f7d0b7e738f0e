{# CTEs, the last named `outdated`: record_no of every record of `lake` that is not the newest of its key in its profile.
   Most records have one version; ranking all of them, every column carried along, cost half of a staging model. #}
{% macro outdated(lake, key) -%}
-- by a number first, for the keys are texts and nearly none is there twice
doubtful as (
    select {{ quick_hash(['_profile_id', key]) }} as digest
    from {{ lake }}
    group by {{ quick_hash(['_profile_id', key]) }}
    having count(*) > 1
),

repeated as (
    select _profile_id, {{ key }}
    from {{ lake }}
    where {{ quick_hash(['_profile_id', key]) }} in (select doubtful.digest from doubtful)
    group by _profile_id, {{ key }}
    having count(*) > 1
),

versions as (
    select
        records._profile_id,
        records.{{ key }},
        records.updated_at,
        {{ record_no('records.') }} as record_no,
        -- as in the macro versions
        max(case when records._deleted and records.updated_at is null then {{ record_no('records.') }} end) over (
            partition by records._profile_id, records.{{ key }}
        ) as withdrawn
    from {{ lake }} as records
    inner join repeated on records._profile_id = repeated._profile_id and records.{{ key }} = repeated.{{ key }}
),

ranked as (
    select
        record_no,
        row_number() over (
            partition by _profile_id, {{ key }}
            order by case when record_no < withdrawn then 1 else 0 end, updated_at desc nulls last, record_no desc
        ) as recency
    from versions
),

outdated as (
    select record_no
    from ranked
    where recency > 1
)
{%- endmacro %}
