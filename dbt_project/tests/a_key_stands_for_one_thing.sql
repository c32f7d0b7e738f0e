{{ config(meta={
    'description': 'No two people, records or entities got the same key.',
    'dagster': {'ref': {'name': 'int_person_identifiers'}}
}) }}

-- Fails when the heads of two hashes met in one number (macro key_of): what they stand for would be taken for one.
select 'person' as thing, person_key as key
from {{ ref('int_person_identifiers') }}
{% if judges_what_came() -%}
    where person_key in (select person_key from {{ changes_of('int_person_identifiers') }} where came)
{% endif -%}
group by person_key
having min(person_id) < max(person_id)
{%- for model, key, changed in [
    ('int_conversions', 'conversion_key', changes_of('int_conversions')),
    ('int_entities', 'entity_key', none),
    ('int_destinations', 'destination_key', none),
    ('int_carried_ads', 'ad_key', none),
    ('int_identity_nodes', 'node_key', ref('int_changed_nodes')),
    ('int_identity_statements', 'statement_key', ref('int_changed_statements'))
] %}
union all
select '{{ model }}' as thing, {{ key }} as key
from {{ ref(model) }}
{% if changed and judges_what_came() -%}
    where {{ key }} in (select {{ key }} from {{ changed }})
{% endif -%}
group by {{ key }}
having count(*) > 1
{%- endfor %}
{%- if judges_what_came() %}
-- what comes takes the place of what was kept under its number, which then was that of something else
    {%- for model, key, natural in [
        ('int_conversions', 'conversion_key', 'conversion_id'),
        ('int_identity_statements', 'statement_key', 'identity_key')
    ] %}
union all
select distinct '{{ model }}' as thing, come.{{ key }} as key
from {{ ref(model) }} as come
inner join changes.gone_{{ model }} as gone on come.{{ key }} = gone.{{ key }}
where come.{{ natural }} <> gone.{{ natural }}
    {%- endfor %}
{%- endif %}
