{# A whole number below 2^63 that stands for a text: the head of its MD5, so that every build gives the same, in any
   order and on any engine. Two of ten million texts meet in one with a chance of 5 in a million; the data test
   a_key_stands_for_one_thing ends such a build. #}
{% macro key_of(text) -%}
    {{ return(adapter.dispatch('key_of')(text)) }}
{%- endmacro %}

{# The number of Spark's form below, from MD5's bytes and not from their digits: to read the digits of a text costs half as
   much as the MD5. That form takes 15 digits times 8, and of the character of the 16th its last three bits: those of the
   digit, less one where it is a letter. #}
{% macro duckdb__key_of(text) -%}
    {#- as a number DuckDB reads the first byte last -#}
    {%- set bytes = 'cast(md5_number(' ~ text ~ ') & 18446744073709551615 as ubigint)' -%}
    {%- set pairs = swapped(bytes, 8, '71777214294589695') -%}
    {%- set fours = swapped(pairs, 16, '281470681808895') -%}
    {%- set head = swapped(fours, 32, '4294967295') -%}
    (
        cast({{ head }} >> 1 & 9223372036854775800 as bigint)
        + cast({{ bytes }} >> 56 & 7 as bigint)
        - case when {{ bytes }} >> 56 & 15 > 9 then 1 else 0 end
    )
{%- endmacro %}

{# A ubigint in which neighbours of so many bits change places; `lower` has the bits of the lower one of each pair. #}
{% macro swapped(number, bits, lower) -%}
    (({{ number }} & {{ lower }}) << {{ bits }} | ({{ number }} >> {{ bits }} & {{ lower }}))
{%- endmacro %}

{% macro spark__key_of(text) -%}
    (cast(conv(substr(md5({{ text }}), 1, 15), 16, 10) as bigint) * 8 + ascii(substr(md5({{ text }}), 16, 1)) % 8)
{%- endmacro %}
