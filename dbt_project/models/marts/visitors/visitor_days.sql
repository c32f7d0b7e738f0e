select
    visitors.profile_key,
    pages.day,
    visitors.visitor_key
from {{ ref('int_page_days') }} as pages
inner join {{ ref('int_visitors') }} as visitors
    on
        pages.profile_key = visitors.profile_key
        and pages.anonymous_id = visitors.anonymous_id
order by visitors.profile_key, pages.day, visitors.visitor_key
