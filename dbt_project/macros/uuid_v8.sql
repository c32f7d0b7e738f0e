{# UUIDv8 of a warehouse thing: MD5 of `profile:kind:natural key` with the version and variant nibbles set, so a
   rebuild on any engine gives the same id. The arguments are SQL expressions; none may be null. The variant is told by
   a case, because translate() of one character costs more than all the rest. #}
{% macro uuid_v8(profile_id, kind, natural_key) -%}
    {%- set digest = "md5(" ~ profile_id ~ " || ':' || " ~ kind ~ " || ':' || " ~ natural_key ~ ")" -%}
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
