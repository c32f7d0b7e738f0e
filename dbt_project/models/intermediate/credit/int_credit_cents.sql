{{ config(materialized='view') }}

{% for model in credit_models() -%}
    select
        conversion_key,
        cast('{{ model.name }}' as {{ dbt.type_string() }}) as model,
        destination_key,
        {{ 'amount' if model.bit else model.name }} as cents
    from {{ ref('int_credit_shares') }}
    {%- if model.bit %}
    where flags & {{ model.bit }} <> 0
    {%- endif %}
    {{ 'union all' if not loop.last }}
{% endfor %}
