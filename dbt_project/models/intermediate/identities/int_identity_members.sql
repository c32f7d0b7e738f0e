{{ config(materialized='view') }}

select profile_key, statement_key, node_key, false as is_typed, kind, value, first_seen_at
from {{ ref('int_stated_members') }}
union all
select profile_key, statement_key, node_key, is_typed, kind, value, first_seen_at
from {{ ref('int_declared_members') }}
