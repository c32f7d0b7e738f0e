{{ by_conversion() }}

select
    conversions.profile_key,
    cents.conversion_key,
    cents.model,
    cents.destination_key,
    cents.cents
from {{ changed_conversions('int_credit_cents') }} as cents
inner join {{ ref('int_conversions') }} as conversions on cents.conversion_key = conversions.conversion_key
