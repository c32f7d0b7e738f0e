{{ kept_by(['profile_id', 'identity_key'], 'int_changed_statements') }}

{%- set kinds = identifier_kinds() %}

select
    profile_id,
    identity_key,
    {{ kinds | join(',\n    ') }},
    min(occurred_at) as first_seen_at
from {{ changed_rows('stg_app__touches', 'int_changed_statements', ['profile_id', 'identity_key'], none) }}
where identity_key is not null
group by profile_id, identity_key, {{ kinds | join(', ') }}
