{{ by_conversion() }}

select
    credits.conversion_key
    {%- for level in entity_levels() %},
        {%- for model in credit_models() if model.bit is not none %}
    max(case when credits.flags & {{ model.bit }} <> 0 then destinations.{{ level.gap }} end)
        as {{ model.name }}_{{ level.gap }},
        {%- endfor %}
    min(destinations.{{ level.gap }}) as multi_{{ level.gap }}
    {%- endfor %}
from {{ changed_conversions('int_credits') }} as credits
inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
group by credits.conversion_key
