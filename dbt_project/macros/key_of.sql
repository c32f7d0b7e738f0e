{# A whole number below 2^63 that stands for a text: the head of its MD5, so that every build gives the same, in any
   order and on any engine. Two of ten million texts meet in one with a chance of 5 in a million; the data test
   a_key_stands_for_one_thing ends such a build. #}
{% macro key_of(text) -%}
    {{ return(adapter.dispatch('key_of')(text)) }}
{%- endmacro %}

{% macro duckdb__key_of(text) -%}
    (cast('0x' || substr(md5({{ text }}), 1, 15) as bigint) * 8 + ascii(substr(md5({{ text }}), 16, 1)) % 8)
{%- endmacro %}

{% macro spark__key_of(text) -%}
    (cast(conv(substr(md5({{ text }}), 1, 15), 16, 10) as bigint) * 8 + ascii(substr(md5({{ text }}), 16, 1)) % 8)
{%- endmacro %}
