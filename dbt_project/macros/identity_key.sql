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
        '{{ kind }}:' || replace({{ kind }}, chr(31), chr(31) || chr(31))
        {%- endfor %}
    ), '')
{%- endmacro %}

{# Whether an identifier is a name that an erasure made up: it leads to nobody. #}
{% macro is_made_up(value) -%}
    ({{ value }} like '%@erased.example' or {{ value }} like '+883519%' or {{ value }} like 'erased-%')
{%- endmacro %}

{# Number of a set of identifiers of a profile, the same in every build. #}
{% macro statement_key(profile_id, identity_key) -%}
    {{ key_of(profile_id ~ " || ':' || " ~ identity_key) }}
{%- endmacro %}
