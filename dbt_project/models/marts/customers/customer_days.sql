{{ by_person('int_changed_customers', since='day') }}

select
    days.profile_key,
    days.day,
    days.person_key
from {{ changed_rows('int_person_days', 'int_changed_customers', since='day') }} as days
inner join {{ ref('customers') }} as customers on days.person_key = customers.person_key
order by days.profile_key, days.day, days.person_key
