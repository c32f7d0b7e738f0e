{# Why the text that a link gave as its ad is no id of an ad, null when it may be one: the macro of the platform was sent
   as it stands, or it holds signs that no platform's id has. #}
{% macro ad_id_fault(ad_id) -%}
    {%- set digits = '0123456789' -%}
    {%- set letters = 'abcdefghijklmnopqrstuvwxyz' -%}
    case
        when
            position('{' in {{ ad_id }}) > 0
            or position('}' in {{ ad_id }}) > 0
            or position('%7b' in {{ lower_of(ad_id) }}) > 0
            or (length({{ ad_id }}) > 4 and left({{ ad_id }}, 2) = '__' and right({{ ad_id }}, 2) = '__')
            then 'macro_not_expanded'
        when translate({{ lower_of(ad_id) }}, '{{ digits ~ letters }}_.:-', '') <> '' then 'malformed_ad_id'
    end
{%- endmacro %}

{# The day that stands for "no earlier ad touch at all"; a date clipped by people_memory_days is never this one. #}
{% macro no_day() -%}
    cast('0001-01-01' as date)
{%- endmacro %}
