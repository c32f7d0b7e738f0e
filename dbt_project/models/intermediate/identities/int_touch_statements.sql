{{ kept_by(['profile_id', 'identity_key'], 'int_changed_statements') }}

{%- set kinds = identifier_kinds() %}

{% if keeps_own_rows() -%}
-- Only of a set that lost a touch all touches are looked at; any other was first seen when it was, or in what is new.
with {{ outdated('changes.touches', 'touch_key') }},

touches as (
    select kept.profile_id, kept.identity_key, kept.{{ kinds | join(', kept.') }}, kept.first_seen_at as occurred_at
    from {{ this }} as kept
    inner join {{ ref('int_changed_statements') }} as changed on {{ same_keys(['profile_id', 'identity_key']) }}
    where not changed.is_lost
    union all
    select new.profile_id, new.identity_key, new.{{ kinds | join(', new.') }}, new.occurred_at
    from (
        select _profile_id as profile_id, {{ identity_key() }} as identity_key, {{ kinds | join(', ') }}, occurred_at
        from changes.touches
        where not _deleted and {{ record_no() }} not in (select outdated.record_no from outdated)
    ) as new
    semi join {{ ref('int_changed_statements') }} as changed
        on new.profile_id = changed.profile_id and new.identity_key = changed.identity_key
    union all
    select kept.profile_id, kept.identity_key, kept.{{ kinds | join(', kept.') }}, kept.occurred_at
    from {{ ref('stg_app__touches') }} as kept
    inner join {{ ref('int_changed_statements') }} as changed on {{ same_keys(['profile_id', 'identity_key']) }}
    where changed.is_lost
)
{%- else -%}
with touches as (
    select * from {{ ref('stg_app__touches') }}
)
{%- endif %}

select
    profile_id,
    identity_key,
    {{ kinds | join(',\n    ') }},
    min(occurred_at) as first_seen_at
from touches
where identity_key is not null
group by profile_id, identity_key, {{ kinds | join(', ') }}
