{{ kept_by(['profile_id', 'identity_key'], 'int_changed_statements') }}

{%- set kinds = identifier_kinds() %}

{% if keeps_own_rows() -%}
-- Only of a set that lost a touch all touches are looked at; any other was first seen when it was, or in what is new.
with {{ outdated('changes.touches', 'touch_key') }},

changed as (
    select kept.*, changed.is_lost
    from {{ this }} as kept
    inner join {{ ref('int_changed_statements') }} as changed on {{ same_keys(['profile_id', 'identity_key']) }}
),

touches as (
    select profile_id, identity_key, {{ kinds | join(', ') }}, first_seen_at as occurred_at
    from changed
    where not is_lost
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
    select changed.profile_id, changed.identity_key, changed.{{ kinds | join(', changed.') }}, kept.occurred_at
    from {{ ref('stg_app__touches') }} as kept
    inner join changed on {{ same_keys(['profile_id', 'identity_key']) }}
    where changed.is_lost
)

select
    profile_id,
    identity_key,
    {{ kinds | join(',\n    ') }},
    min(occurred_at) as first_seen_at
from touches
where identity_key is not null
group by profile_id, identity_key, {{ kinds | join(', ') }}
{%- else -%}
with sets as (
    select
        profile_id,
        identity_key,
        min(occurred_at) as first_seen_at,
        min(record_no) as record_no
    from {{ ref('stg_app__touches') }}
    where identity_key is not null
    group by profile_id, identity_key
)

-- every touch of a set names the same identifiers, so one of them is asked: in staging, columns for each of ten million
-- touches cost more to write than all that is done here
select
    sets.profile_id,
    sets.identity_key,
    {%- for kind in kinds %}
    landed.{{ kind }},
    {%- endfor %}
    sets.first_seen_at
from sets
inner join {{ ref('stg_app__touch_identifiers') }} as landed on sets.record_no = landed.record_no
{%- endif %}
