{#- Empty where every row is made anew. Joins start at what changed, so that a quiet day costs little. -#}
{% if keeps_rows() %}
with profiles as (
    select * from {{ ref('int_profiles') }}
),

entities as (
    select distinct
        profiles.profile_id,
        changed.profile_key,
        changed.platform_id
    from {{ changes_of('int_entities') }} as changed
    inner join profiles on changed.profile_key = profiles.profile_key
),

said as (
    select profile_id, identity_key, occurred_s as ts from changes.touch_identities
    union all
    select _profile_id as profile_id, {{ identity_key() }} as identity_key, {{ epoch_seconds('occurred_at') }} as ts
    from changes.touches
    union all
    select profile_id, identity_key, occurred_s as ts from {{ changes_of('stg_app__ad_referrals') }}
    union all
    -- which sighting of a conversation counts may change with every one of them
    select referrals.profile_id, referrals.identity_key, referrals.occurred_s as ts
    from {{ ref('stg_app__ad_referrals') }} as referrals
    inner join {{ changes_of('stg_app__ad_referrals') }} as changed
        on referrals.profile_id = changed.profile_id and referrals.conversation_id = changed.conversation_id
    union all
    select touches.profile_id, touches.identity_key, touches.occurred_s as ts
    from {{ ref('stg_app__touches') }} as touches
    inner join {{ changes_of('int_returns') }} as changed on touches.record_no = changed.record_no
    {%- for model, id in [
        ('touches', 'ad_id'), ('touches', 'ad_set_id'), ('touches', 'campaign_id'), ('ad_referrals', 'ad_id')
    ] %}
    union all
    select records.profile_id, records.identity_key, records.occurred_s as ts
    from {{ ref('stg_app__' ~ model) }} as records
    inner join entities on records.profile_id = entities.profile_id and records.{{ id }} = entities.platform_id
    {%- endfor %}
),

found as (
    select keys.person_key, said.ts
    from said
    inner join profiles on said.profile_id = profiles.profile_id
    inner join {{ ref('int_identity_keys') }} as keys
        on profiles.profile_key = keys.profile_key and said.identity_key = keys.identity_key
    union all
    select person_key, ts from {{ changes_of('int_own_parameters') }}
    {%- for id in ['ad_id', 'ad_set_id', 'campaign_id'] %}
    union all
    select records.person_key, records.ts
    from {{ ref('int_own_parameters') }} as records
    inner join entities on records.profile_key = entities.profile_key and records.{{ id }} = entities.platform_id
    {%- endfor %}
    union all
    {{ people_changed_wholly() }}
)

select person_key, min(ts) as ts
from found
group by person_key
{% else %}
select person_key, cast(0 as bigint) as ts
from {{ ref('int_identity_keys') }}
where false
{% endif %}
