with treated as (
    select t.*
    from {{ ref('int_experiment_entities') }} as t
    inner join {{ ref('int_experiments') }} as s
        on t.profile_key = s.profile_key and t.experiment_id = s.experiment_id
    inner join {{ ref('int_experiment_results') }} as r
        on t.profile_key = r.profile_key and t.experiment_id = r.experiment_id
    where s.kind = 'lift' and s.status = 'finished' and r.is_conclusive and t.role = 'treatment'
)

-- an ad may be in several such studies
select distinct
    t.profile_key,
    ad.entity_key
from treated as t
inner join {{ ref('int_entities') }} as ad
    on t.profile_key = ad.profile_key and ad.level = 'ad'
    and t.entity_key = case t.level
        when 'ad' then ad.entity_key when 'ad_set' then ad.ad_set_key else ad.campaign_key
    end
where t.level = 'ad' or t.listed = 1
