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

several as (
    select
        records._profile_id,
        records.{{ key }},
        records.updated_at,
        records._deleted,
        records._seq,
        records._line
    from {{ lake }} as records
    inner join repeated on records._profile_id = repeated._profile_id and records.{{ key }} = repeated.{{ key }}
),

{{ versions('several', ['_profile_id', key]) }},

outdated as (
    select {{ record_no() }} as record_no
    from several
    where {{ record_no() }} not in (select {{ record_no('ranked.') }} from ranked where ranked.recency = 1)
)
{%- endmacro %}
