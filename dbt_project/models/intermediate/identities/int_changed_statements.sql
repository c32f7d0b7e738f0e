{#- Empty where every row is made anew. -#}
{%- set sources = [
    'stg_app__touches', 'stg_app__conversions', 'stg_app__ad_referrals', 'stg_store__orders', 'stg_app__people'
] -%}
{% if keeps_rows() %}
with found as (
    select profile_id, identity_key, true as is_lost from changes.touch_identities
    union all
    select touches.profile_id, touches.identity_key, false as is_lost
    from (
        select _profile_id as profile_id, {{ identity_key() }} as identity_key, occurred_at
        from changes.touches
    ) as touches
    -- as the build before left it: what a touch says that is neither new nor earlier changes nothing
    left join {{ this.schema }}.int_touch_statements as known
        on touches.profile_id = known.profile_id and touches.identity_key = known.identity_key
    where known.identity_key is null or touches.occurred_at < known.first_seen_at
    {%- for model in sources[1:] %}
    union all
    select profile_id, identity_key, false as is_lost from {{ changes_of(model) }}
    {%- endfor %}
    {%- for model in sources %}
    union all
    select profile_id, identity_key, false as is_lost from {{ ref(model) }}
    where profile_id in (select changed.profile_id from {{ changes_of('int_profiles') }} as changed)
    {%- endfor %}
)

select
    profile_id,
    identity_key,
    {{ statement_key('profile_id', 'identity_key') }} as statement_key,
    max(case when is_lost then 1 else 0 end) = 1 as is_lost
from found
where identity_key is not null
group by profile_id, identity_key
{% else %}
select
    profile_id,
    identity_key,
    cast(0 as bigint) as statement_key,
    false as is_lost
from {{ ref('stg_app__touches') }}
where false
{% endif %}
