{%- set landed = [
    'stg_app__touches', 'stg_app__conversions', 'stg_app__recurring_payments', 'stg_app__identities',
    'stg_app__people', 'stg_app__ad_referrals', 'stg_ad_platform__ad_accounts', 'stg_ad_platform__campaigns',
    'stg_ad_platform__ad_sets', 'stg_ad_platform__ads', 'stg_ad_platform__creatives', 'stg_ad_platform__delivery',
    'stg_ad_platform__delivery_breakdowns', 'stg_ad_platform__entity_reach', 'stg_store__products',
    'stg_store__variants', 'stg_store__orders', 'stg_store__order_lines'
] -%}
with landings as (
    {%- for model in landed %}
    select profile_id, landed_from, max(loaded_at) as loaded_at
    from {{ ref(model) }}
    group by profile_id, landed_from
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
)

select
    p.profile_key,
    l.landed_from,
    max(l.loaded_at) as loaded_at
from landings as l
inner join {{ ref('int_profiles') }} as p on l.profile_id = p.profile_id
group by p.profile_key, l.landed_from
