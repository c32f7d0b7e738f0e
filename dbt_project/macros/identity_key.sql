{# Kinds of identifiers a row may carry, in the order in which they speak for the row's person when they disagree
   (they disagree only where one of them is a shared device or inbox). #}
{% macro identifier_kinds() -%}
    {{ return(['person_key', 'external_id', 'payment_customer_id', 'email', 'phone', 'anonymous_id']) }}
{%- endmacro %}

{# One text for the whole set of identifiers of a row, null when it has none: rows with the same text are the same
   person, so people are looked up once per text and not once per identifier. An identifier that contains the separator
   has it twice, so that no two sets have the same text. `kinds` are those a row can have. #}
{% macro identity_key(kinds=none) -%}
    nullif(concat_ws(
        chr(31)
        {%- for kind in identifier_kinds() if not kinds or kind in kinds %},
        '{{ kind }}:' || {{ doubled(kind) }}
        {%- endfor %}
    ), '')
{%- endmacro %}

{# A text that contains the separator only in twos. #}
{% macro doubled(text) -%}
    replace({{ text }}, chr(31), chr(31) || chr(31))
{%- endmacro %}

{# Whether an identifier is a name that an erasure made up: it leads to nobody. #}
{% macro is_made_up(value) -%}
    ({{ value }} like '%@erased.example' or {{ value }} like '+883519%' or {{ value }} like 'erased-%')
{%- endmacro %}

{# Number of a set of identifiers of a profile, the same in every build. #}
{% macro statement_key(profile_id, identity_key) -%}
    {{ key_of(profile_id ~ " || ':' || " ~ identity_key) }}
{%- endmacro %}

{# Number of a statement that is no set of identifiers, always negative; it is of what the statement says. #}
{% macro told_key(profile_id, way, values) -%}
    {%- set said -%}
        {{ profile_id }} || ':{{ way }}'
        {%- for value in values %} || chr(31) || {{ doubled(value) }}{% endfor %}
    {%- endset -%}
    -1 - {{ key_of(said) }}
{%- endmacro %}

{# Number of an identifier of a profile, the same in every build. #}
{% macro node_key(profile_id, kind, value) -%}
    {{ key_of(profile_id ~ " || ':' || " ~ kind ~ " || ':' || " ~ value) }}
{%- endmacro %}
