{#- Empty where every row is made anew. -#}
{%- set touches = ref('stg_app__touches') -%}
{% if keeps_rows() %}
select profile_id, identity_key
from changes.touch_identities
where identity_key is not null
union
select _profile_id as profile_id, {{ identity_key() }} as identity_key
from changes.touches
where {{ identity_key() }} is not null
{% else %}
select profile_id, identity_key
from {{ touches }}
where false
{% endif %}
