{{ config(materialized='view') }}

select
    profile_key,
    destination_key,
    nullif(platform, '') as platform,
    campaign_key,
    ad_set_key,
    ad_key,
    reason
from {{ ref('int_destinations') }}
