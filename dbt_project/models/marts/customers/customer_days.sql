select
    days.profile_key,
    days.day,
    days.person_key
from {{ ref('int_person_days') }} as days
inner join {{ ref('customers') }} as customers on days.person_key = customers.person_key
order by days.profile_key, days.day, days.person_key
