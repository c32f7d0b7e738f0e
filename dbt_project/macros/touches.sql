{# The finest ad a row names, as text that is equal where the ad is the same; null when it names none. #}
{% macro named_ad(of='') -%}
    coalesce('ad:' || {{ of }}ad_id, 'ad_set:' || {{ of }}ad_set_id, 'campaign:' || {{ of }}campaign_id)
{%- endmacro %}

{# Campaign parameters of a row as one text, null when it has none. #}
{% macro utm_text() -%}
    nullif(concat_ws(
        chr(31)
        {%- for part in ['source', 'medium', 'campaign', 'content', 'term', 'id'] %},
        'utm_{{ part }}:' || utm_{{ part }}
        {%- endfor %}
    ), '')
{%- endmacro %}

{# Platform that issues a kind of click id, null for other kinds: such an id proves a paid click. #}
{% macro click_platform(click_id_type) -%}
    case
        when {{ click_id_type }} in ('fbclid', 'fbc') then 'meta'
        when {{ click_id_type }} in ('gclid', 'wbraid', 'gbraid', 'dclid') then 'google'
        when {{ click_id_type }} = 'ttclid' then 'tiktok'
    end
{%- endmacro %}

{# Values of utm_medium that say a visit was paid for. #}
{% macro paid_media() -%}
    {{ return(['cpc', 'ppc', 'paid', 'paid_social', 'paidsocial', 'cpm', 'display', 'banner', 'retargeting']) }}
{%- endmacro %}

{# Key of a touch by the row it comes of: a conversation counts once, an outcome's or an order's own parameters by the key
   under which it claims a payment. #}
{% macro touch_keys() -%}
    {{ return({
        'stg_app__touches': 'touch_key',
        'stg_app__ad_referrals': "'conversation:' || conversation_id",
        'stg_app__conversions': "'conversion:' || conversion_key",
        'stg_store__orders': "'order:' || connection_ref || ':' || order_id",
    }) }}
{%- endmacro %}

{# Whether a touch, by the number of its origin, is a conversation that an ad opened. #}
{% macro is_opened_conversation(origin_no) -%}
    {{ origin_no }} in (
        {%- for word in ['conversation_referral', 'partner_ad_referral'] -%}
        {{ touch_origins().index(word) + 1 }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
{%- endmacro %}

{# Where an ad's conversation was seen. #}
{% macro referral_origin() -%}
    case when seen_live then 'conversation_referral' else 'partner_ad_referral' end
{%- endmacro %}
