{# Whether data tests judge what came with this build only: it keeps the rest, and kept rows passed when they came, or
   their build had left no base. `touchledger-dbt test` judges all rows. #}
{% macro judges_what_came() -%}
    {{ return(keeps_rows() and flags.WHICH == 'build') }}
{%- endmacro %}

{# Of a model's rows those to be judged: all, or those of what changed. #}
{% macro judged_rows(name, changed, keys) -%}
    {{ changed_rows(name, changed, keys, since=none, only=judges_what_came()) }}
{%- endmacro %}
