{# UUIDv8 of a warehouse thing, as text: MD5 of `profile:kind:natural key` with the version and variant bits set, so a
   rebuild on any engine gives the same id. The arguments are SQL expressions; none may be null. #}
{% macro uuid_v8(profile_id, kind, natural_key) -%}
    {{ adapter.dispatch('uuid_text')(named_digest(profile_id, kind, natural_key)) }}
{%- endmacro %}

{# The same in the engine's own type for such ids where it has one: 16 bytes instead of 36, for tables in which every row
   has an id of its own. #}
{% macro stored_uuid_v8(profile_id, kind, natural_key) -%}
    {{ adapter.dispatch('stored_uuid')(named_digest(profile_id, kind, natural_key)) }}
{%- endmacro %}

{% macro named_digest(profile_id, kind, natural_key) -%}
    md5({{ profile_id }} || ':' || {{ kind }} || ':' || {{ natural_key }})
{%- endmacro %}

{# Setting bits of a number takes half the time of putting the text together from its parts. #}
{% macro duckdb__stored_uuid(digest) -%}
    cast(
        cast(cast(unhex({{ digest }}) as uuid) as uhugeint)
        & cast(cast('ffffffff-ffff-0fff-3fff-ffffffffffff' as uuid) as uhugeint)
        | cast(cast('00000000-0000-8000-8000-000000000000' as uuid) as uhugeint)
        as uuid
    )
{%- endmacro %}

{% macro duckdb__uuid_text(digest) -%}
    cast({{ duckdb__stored_uuid(digest) }} as varchar)
{%- endmacro %}

{% macro spark__stored_uuid(digest) -%}
    {{ spark__uuid_text(digest) }}
{%- endmacro %}

{# The variant is told by a case, because translate() of one character costs more than all the rest. #}
{% macro spark__uuid_text(digest) -%}
    {%- set nibble = "substr(" ~ digest ~ ", 17, 1)" -%}
    (
        substr({{ digest }}, 1, 8) || '-' || substr({{ digest }}, 9, 4)
        || '-8' || substr({{ digest }}, 14, 3)
        || case
            when {{ nibble }} in ('0', '4', '8', 'c') then '-8'
            when {{ nibble }} in ('1', '5', '9', 'd') then '-9'
            when {{ nibble }} in ('2', '6', 'a', 'e') then '-a'
            else '-b'
        end
        || substr({{ digest }}, 18, 3) || '-' || substr({{ digest }}, 21, 12)
    )
{%- endmacro %}
