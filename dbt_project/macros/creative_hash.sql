{# Names one state of a creative: what it shows, and its producer's own hash, which also tells of a changed picture.
   Addresses of pictures are left out, since platforms sign them anew. `c` is the alias of stg_ad_platform__creatives. #}
{% macro creative_hash(c) -%}
    md5(
        {{ c }}.format
        {%- for part in ['video_id', 'title', 'body', 'call_to_action', 'content_hash'] %}
        || chr(31) || coalesce({{ c }}.{{ part }}, '')
        {%- endfor %}
    )
{%- endmacro %}
