{{ by_conversion() }}

select
    credits.conversion_key,
    destinations.platform,
    bit_or(credits.flags) as flags
    {%- for level in entity_levels() %},
    bit_or(case when destinations.{{ level.gap }} > 0 then credits.flags end) as {{ level.name }}_unassigned
    {%- endfor %}
from {{ changed_conversions('int_credits') }} as credits
inner join {{ ref('int_destinations') }} as destinations on credits.destination_key = destinations.destination_key
where destinations.platform <> ''
group by credits.conversion_key, destinations.platform
