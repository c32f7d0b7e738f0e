{# CTEs, the last named `ranked`: every row of a set of the lake that no later withdrawal took, with its `recency`, 1 the
   newest of its key. A withdrawal needs only the key, and without a time of its own it is as new as its landing; so it
   takes what had landed before, whatever time that told. #}
{% macro versions(lake, key) -%}
withdrawn as (
    select {{ key | join(', ') }}, max({{ record_no() }}) as since
    from {{ lake }}
    where _deleted and updated_at is null
    group by {{ key | join(', ') }}
),

ranked as (
    select
        records.*,
        row_number() over (
            partition by records.{{ key | join(', records.') }}
            order by records.updated_at desc nulls last, records._seq desc, records._line desc
        ) as recency
    from {{ lake }} as records
    left join withdrawn
        on {% for column in key %}records.{{ column }} = withdrawn.{{ column }}{{ ' and ' if not loop.last }}{% endfor %}
    where withdrawn.since is null or {{ record_no('records.') }} >= withdrawn.since
)
{%- endmacro %}
