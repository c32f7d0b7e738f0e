{# Channels and origins of touches. Models before the marts have a number in their place, for a text of few values is the
   dearest to write and to group by: its place in these lists, counted from 1. Marts tell the words. #}
{% macro touch_channels() -%}
    {{ return(['chatapp', 'other', 'pagechat', 'social', 'web']) }}
{%- endmacro %}

{% macro touch_origins() -%}
    {{ return(['conversation_referral', 'other', 'partner_ad_referral', 'web']) }}
{%- endmacro %}

{% macro number_of(word, words) -%}
    cast(case {{ word }}{% for one in words %} when '{{ one }}' then {{ loop.index }}{% endfor %} end as smallint)
{%- endmacro %}

{# 0 stands for every channel, or every origin, of a scope of people_cells(). #}
{% macro word_of(number, words) -%}
    case {{ number }} when 0 then 'all'{% for one in words %} when {{ loop.index }} then '{{ one }}'{% endfor %} end
{%- endmacro %}
