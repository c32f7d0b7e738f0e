{# UUIDv8 of a warehouse thing: MD5 of `profile:kind:natural key` with the version and variant nibbles set, so a
   rebuild on any engine gives the same id. The arguments are SQL expressions; none may be null. #}
{% macro uuid_v8(profile_id, kind, natural_key) -%}
    {%- set digest = "md5(" ~ profile_id ~ " || ':' || " ~ kind ~ " || ':' || " ~ natural_key ~ ")" -%}
    (
        substr({{ digest }}, 1, 8) || '-' || substr({{ digest }}, 9, 4)
        || '-8' || substr({{ digest }}, 14, 3)
        || '-' || translate(substr({{ digest }}, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab')
        || substr({{ digest }}, 18, 3) || '-' || substr({{ digest }}, 21, 12)
    )
{%- endmacro %}
