{{ by_person() }}
{{ packed(plain=['person_key', 'is_direct']) }}
with touches as (
    select
        profile_key,
        person_key,
        record_no,
        ts,
        channel_no,
        coalesce(ad_platform, {{ click_platform('click_id_type') }}, '') as platform,
        ad_id,
        ad_set_id,
        campaign_id,
        coalesce(is_direct, false) as is_direct,
        coalesce(is_paid, false) as is_paid
    from {{ changed_rows('int_visits') }}

    union all

    select
        profile_key,
        person_key,
        record_no,
        ts,
        {{ number_of("'other'", touch_channels()) }} as channel_no,
        coalesce(ad_platform, {{ click_platform('click_id_type') }}, '') as platform,
        ad_id,
        ad_set_id,
        campaign_id,
        false as is_direct,
        is_paid
    from {{ changed_rows('int_record_touches') }}
),

-- A touch that does not tell its platform is matched by the id alone, where only one platform knows that id.
named as (
    select profile_key, level, platform, platform_id, entity_key from {{ ref('int_entities') }}
    union all
    select profile_key, level, '' as platform, platform_id, min(entity_key) as entity_key
    from {{ ref('int_entities') }}
    group by profile_key, level, platform_id
    having count(*) = 1
),

matched as (
    select
        touches.*,
        coalesce(ads.entity_key, ad_sets.entity_key, campaigns.entity_key) as entity_key
    from touches
    {%- for level, id in [('ads', 'ad_id'), ('ad_sets', 'ad_set_id'), ('campaigns', 'campaign_id')] %}
    left join named as {{ level }}
        on touches.profile_key = {{ level }}.profile_key
            and {{ level }}.level = '{{ id[:-3] }}'
            and touches.platform = {{ level }}.platform
            and touches.{{ id }} = {{ level }}.platform_id
    {%- endfor %}
),

reasoned as (
    select
        *,
        case
            when entity_key is not null then null
            when coalesce(ad_id, ad_set_id, campaign_id) is not null then 'unknown_ad'
            when is_paid then 'paid_without_ad'
            when is_direct then 'direct'
            else 'other_channel'
        end as reason
    from matched
)

select
    profile_key,
    person_key,
    record_no,
    ts,
    channel_no,
    is_direct,
    case
        when reason is null then cast(entity_key as {{ dbt.type_string() }})
        else reason || ':' || case when reason in ('unknown_ad', 'paid_without_ad') then platform else '' end
    end as place
from reasoned
