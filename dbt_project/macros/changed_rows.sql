{# Of a model's rows those of what changed, in a build that keeps the rest or with `only`; else all of them. #}
{% macro changed_rows(name, changed='int_changed_paths', keys=['person_key'], since='ts', only=none) -%}
    {%- do _mention(changed) -%}
    {%- if (keeps_own_rows() if only is none else only) -%}
        (
            select kept.*
            from {{ ref(name) }} as kept
            inner join {{ distinct_changes(changed, keys, since) }} on {{ same_keys(keys, since) }}
        )
    {%- else -%}
        {{ ref(name) }}
    {%- endif -%}
{%- endmacro %}

{# What changed, each once by `keys`, though its list may be of more. #}
{% macro distinct_changes(changed, keys, since=none) -%}
    (
        select distinct {{ (keys + ([since] if since else [])) | join(', ') }}
        from {{ changed if '.' in changed else ref(changed) }}
    ) as changed
{%- endmacro %}

{% macro changed_conversions(name) -%}
    {{ changed_rows(name, 'int_changed_conversions', ['conversion_key'], none) }}
{%- endmacro %}

{% macro changed_statements(name) -%}
    {{ changed_rows(name, 'int_changed_statements', ['profile_id', 'identity_key'], none) }}
{%- endmacro %}

{% macro by_day() -%}
    {{ kept_by(['profile_key', 'day'], 'int_changed_days') }}
{%- endmacro %}

{% macro changed_days(name) -%}
    {{ changed_rows(name, 'int_changed_days', ['profile_key', 'day'], none) }}
{%- endmacro %}

{% macro same_keys(keys, since=none) -%}
    {% for key in keys %}{{ ' and ' if not loop.first }}kept.{{ key }} = changed.{{ key }}{% endfor %}
    {{- ' and kept.' ~ since ~ ' >= changed.' ~ since if since }}
{%- endmacro %}

{# The join that leaves of a statement's rows those of what changed, in a build that keeps the rest. #}
{% macro only_changed(changed, key, since, from='ts') -%}
    {%- do _mention(changed) -%}
    {%- if keeps_own_rows() -%}
        inner join {{ ref(changed) }} as changed on {{ key }} = changed.person_key and {{ since }} >= changed.{{ from }}
    {%- endif -%}
{%- endmacro %}

{# Whether this model's table stays, and only what changed comes anew; never in a unit test, which has no table. #}
{% macro keeps_own_rows() -%}
    {{ return(this is not none and is_incremental()) }}
{%- endmacro %}

{# Whether this build keeps what nothing changed; also while dbt draws the graph, to which both kinds of builds belong. #}
{% macro keeps_rows() -%}
    {{ return(not execute or (target.type == 'duckdb' and not flags.FULL_REFRESH)) }}
{%- endmacro %}

{# Rows of a model that came or went, as compared() and kept_by() tell them; `came` tells which. #}
{% macro changes_of(name) -%}
    {%- do _mention(name) -%}
    changes.{{ name }}
{%- endmacro %}

{# A dependency that only some builds read: told while dbt draws the graph, not where a unit test would want its rows. #}
{% macro _mention(name) -%}
    {%- if not execute and '.' not in name -%}{%- do ref(name) -%}{%- endif -%}
{%- endmacro %}
