{{ kept_by(['person_key'], 'int_changed_people') }}

select
    records.profile_key,
    records.person_key,
    records.record_no,
    records.ts,
    records.ad_platform,
    records.ad_id,
    records.ad_set_id,
    records.campaign_id,
    records.is_paid,
    records.click_id_type
from {{ changed_rows('int_own_parameters', 'int_changed_people', since=none) }} as records
inner join {{ changed_rows('int_record_sights', 'int_changed_people', since=none) }} as sights
    on
        records.person_key = sights.person_key
        and records.record_no = sights.record_no
where sights.is_touch
