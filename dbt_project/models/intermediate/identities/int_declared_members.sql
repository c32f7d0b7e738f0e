{{ compared(['profile_key', 'statement_key', 'node_key', 'is_typed', 'first_seen_at']) }}

with declared as (
    select
        p.profile_key,
        p.profile_id,
        {{ told_key('p.profile_id', 'declared', ['i.kind_a', 'i.value_a', 'i.kind_b', 'i.value_b']) }} as statement_key,
        i.confidence = 'typed' as is_typed,
        i.kind_a,
        i.value_a,
        i.kind_b,
        i.value_b,
        i.observed_at
    from {{ ref('stg_app__identities') }} as i
    inner join {{ ref('int_profiles') }} as p on i.profile_id = p.profile_id
),

stated as (
    {% for side in ['a', 'b'] -%}
    select
        profile_key, profile_id, statement_key, is_typed, kind_{{ side }} as kind, value_{{ side }} as value,
        observed_at as first_seen_at
    from declared
    {%- if side == 'b' %}
    -- an identifier is named once, also where it is said to be itself
    where kind_a <> kind_b or value_a <> value_b
    {%- endif %}
    {{ 'union all' if not loop.last }}
    {% endfor %}
),

-- Whoever follows a link made for somebody is that person; the token names one of the person's identifiers.
followed as (
    select
        p.profile_key,
        p.profile_id,
        {{ told_key('p.profile_id', 'followed', ['e.anonymous_id', 'e.linked_identifier_id']) }} as statement_key,
        e.anonymous_id,
        e.linked_identifier_id,
        min(e.occurred_at) as first_seen_at
    from {{ ref('stg_app__page_events') }} as e
    inner join {{ ref('int_profiles') }} as p on e.profile_id = p.profile_id
    where e.linked_identifier_id is not null and e.anonymous_id is not null
    group by p.profile_key, p.profile_id, e.anonymous_id, e.linked_identifier_id
),

known as (
    select profile_key, kind, value from {{ ref('int_stated_members') }}
    union all
    select profile_key, kind, value from stated
),

named as (
    select profile_key, profile_id, statement_key, is_typed, kind, value, first_seen_at
    from stated
    union all
    select
        profile_key, profile_id, statement_key, false as is_typed, 'anonymous_id' as kind, anonymous_id as value,
        first_seen_at
    from followed
    union all
    -- many name the same identifier; where nobody followed a link, nothing of them is read
    select distinct
        followed.profile_key, followed.profile_id, followed.statement_key, false as is_typed, known.kind, known.value,
        followed.first_seen_at
    from followed
    inner join known
        on
            followed.profile_key = known.profile_key
            and followed.linked_identifier_id
            = {{ uuid_v8('followed.profile_id', "'identifier'", "known.kind || ':' || known.value") }}
            and (known.kind <> 'anonymous_id' or followed.anonymous_id <> known.value)
)

select
    profile_key,
    statement_key,
    {{ node_key('profile_id', 'kind', 'value') }} as node_key,
    is_typed,
    kind,
    value,
    first_seen_at
from named
