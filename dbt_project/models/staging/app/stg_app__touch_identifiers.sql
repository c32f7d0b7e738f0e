{{ config(materialized='view') }}

select
    {{ record_no() }} as record_no,
    {{ identifier_kinds() | join(',\n    ') }}
from {{ source('lake', 'touches') }}
