select
    profile_key,
    cast(experiment_id as {{ dbt.type_string() }}) as experiment_id,
    arm_id,
    name,
    role,
    entity_level,
    cast(entity_ids as {{ dbt.type_string() }}) as entity_ids,
    cast(population as bigint) as population,
    cast(conversions as bigint) as conversions,
    cast(attributed_outcomes as bigint) as attributed_outcomes,
    cast(spend_minor as bigint) as spend_minor
from {{ ref('int_experiment_arms') }}
order by profile_key, experiment_id, arm_id
