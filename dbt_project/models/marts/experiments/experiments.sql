select
    s.profile_key,
    cast(s.experiment_id as {{ dbt.type_string() }}) as experiment_id,
    s.platform,
    s.platform_study_id,
    s.name,
    s.kind,
    cast(s.status as {{ dbt.type_string() }}) as status,
    s.start_date,
    s.end_date,
    s.objective,
    r.lift,
    r.ci_low,
    r.ci_high,
    r.is_conclusive,
    r.winner_arm_id,
    s.platform_lift,
    s.platform_ci_low,
    s.platform_ci_high,
    s.platform_winner_arm_id,
    s.platform_computed_at
from {{ ref('int_experiments') }} as s
left join {{ ref('int_experiment_results') }} as r
    on s.profile_key = r.profile_key and s.experiment_id = r.experiment_id
order by s.profile_key, s.experiment_id
