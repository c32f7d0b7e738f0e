{# Names one state of a creative: what it shows, and its producer's own hash, which also tells of a changed picture.
   Addresses of pictures are left out, since platforms sign them anew. In a part the separator is written as two other
   characters, so that no two states have the same text. `c` is the alias of stg_ad_platform__creatives. #}
{% macro creative_hash(c) -%}
    md5(
        {{ c }}.format
        {%- for part in ['video_id', 'title', 'body', 'call_to_action', 'content_hash'] %}
        || chr(31) || replace(
            replace(coalesce({{ c }}.{{ part }}, ''), chr(30), chr(30) || '0'), chr(31), chr(30) || '1'
        )
        {%- endfor %}
    )
{%- endmacro %}
