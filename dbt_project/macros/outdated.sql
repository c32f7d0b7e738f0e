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
        {{ record_no('records.') }} as record_no,
        row_number() over (
            partition by records._profile_id, records.{{ key }}
            order by records.updated_at desc nulls last, records._seq desc, records._line desc
        ) as recency
    from {{ lake }} as records
    inner join repeated on records._profile_id = repeated._profile_id and records.{{ key }} = repeated.{{ key }}
),

outdated as (
    select record_no
    from versions
    where recency > 1
)
{%- endmacro %}
