{#- Where nobody was held back both counts are ours; where somebody was, only the platform knows who. -#}
with counted as (
    select
        a.profile_key,
        a.experiment_id,
        a.arm_id,
        a.role,
        a.population as n,
        case when s.kind = 'lift' then a.conversions else a.attributed_outcomes end as k,
        sum(case when a.role = 'control' then 1 else 0 end) over (
            partition by a.profile_key, a.experiment_id
        ) as controls
    from {{ ref('int_experiment_arms') }} as a
    inner join {{ ref('int_experiments') }} as s
        on a.profile_key = s.profile_key and a.experiment_id = s.experiment_id
    where s.status = 'finished'
),

ranked as (
    select
        *,
        row_number() over (
            partition by profile_key, experiment_id
            order by cast(k as double) / cast(n as double) desc, arm_id asc
        ) as place
    from counted
    -- a rate of 0 is none to compare one arm with, but counts among those taken together
    where n >= k and n > 0 and (k > 0 or controls > 0)
),

sides as (
    select
        profile_key,
        experiment_id,
        sum(case when is_treated then k end) as k_t,
        sum(case when is_treated then n end) as n_t,
        sum(case when not is_treated then k end) as k_c,
        sum(case when not is_treated then n end) as n_c,
        min(case when is_treated then place end) as treated_place,
        min(case when not is_treated then place end) as other_place
    from (
        select *, case when controls > 0 then role <> 'control' else place = 1 end as is_treated
        from ranked
        where controls > 0 or place <= 2
    ) as compared
    group by profile_key, experiment_id
),

ratios as (
    select
        *,
        (cast(k_t as double) / n_t) / (cast(k_c as double) / n_c) as ratio,
        {{ exp_of_minus('1.96 * sqrt(1e0 / k_t - 1e0 / n_t + 1e0 / k_c - 1e0 / n_c)') }} as shrunk
    from sides
    where k_t > 0 and k_c > 0
)

select
    r.profile_key,
    r.experiment_id,
    r.ratio - 1 as lift,
    r.ratio * r.shrunk - 1 as ci_low,
    r.ratio / r.shrunk - 1 as ci_high,
    r.ratio * r.shrunk > 1 or r.ratio < r.shrunk as is_conclusive,
    case
        when r.ratio * r.shrunk > 1 then t.arm_id
        when r.ratio < r.shrunk then o.arm_id
    end as winner_arm_id
from ratios as r
inner join ranked as t
    on r.profile_key = t.profile_key and r.experiment_id = t.experiment_id and r.treated_place = t.place
inner join ranked as o
    on r.profile_key = o.profile_key and r.experiment_id = o.experiment_id and r.other_place = o.place
