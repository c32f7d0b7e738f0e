with treated as (
    select
        t.*,
        s.end_date
    from {{ ref('int_experiment_entities') }} as t
    inner join {{ ref('int_experiments') }} as s
        on t.profile_key = s.profile_key and t.experiment_id = s.experiment_id
    inner join {{ ref('int_experiment_results') }} as r
        on t.profile_key = r.profile_key and t.experiment_id = r.experiment_id
    where s.kind = 'lift' and s.status = 'finished' and r.is_conclusive and t.role = 'treatment'
),

proven as (
    select t.profile_key, ad.entity_key, t.experiment_id, t.end_date
    from treated as t
    inner join {{ ref('int_entities') }} as ad
        on t.profile_key = ad.profile_key and ad.level = 'ad'
        and t.entity_key = case t.level
            when 'ad' then ad.entity_key when 'ad_set' then ad.ad_set_key else ad.campaign_key
        end
    where t.level = 'ad' or t.listed = 1
),

newest as (
    select
        *,
        row_number() over (
            partition by profile_key, entity_key order by end_date desc nulls last, experiment_id asc
        ) as choice
    from proven
)

select profile_key, entity_key, experiment_id, end_date
from newest
where choice = 1
