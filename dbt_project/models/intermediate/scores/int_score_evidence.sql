with reaches as (
    select windows.window_key, reached.entity_key as ad_key, reached.reach
    from {{ ref('entity_reach') }} as reached
    inner join {{ ref('int_score_windows') }} as windows
        on
            reached.profile_key = windows.profile_key
            and reached.date_from = windows.day_from
            and reached.date_to = windows.as_of
    where reached.level = 'ad'
),

reached_roots as (
    select groups.root_key
    from {{ ref('int_score_cohorts') }} as cohorts
    inner join {{ ref('int_score_groups') }} as groups on cohorts.group_key = groups.group_key
    left join reaches on cohorts.window_key = reaches.window_key and cohorts.ad_key = reaches.ad_key
    where groups.objective = 'awareness'
    group by groups.root_key
    having count(reaches.reach) = count(*)
),

ads as (
    select
        delivery.*,
        groups.group_key,
        groups.root_key,
        groups.format,
        credits.pipeline_outcomes,
        credits.cash_outcomes,
        orders.relative_value,
        orders.valued_orders,
        case when reached_roots.root_key is not null then reaches.reach end as reach
    from {{ ref('int_score_delivery') }} as delivery
    inner join {{ ref('int_score_cohorts') }} as cohorts
        on delivery.window_key = cohorts.window_key and delivery.ad_key = cohorts.ad_key
    inner join {{ ref('int_score_groups') }} as groups on cohorts.group_key = groups.group_key
    left join {{ ref('int_score_credits') }} as credits
        on delivery.window_key = credits.window_key and delivery.ad_key = credits.ad_key
    left join {{ ref('int_score_order_values') }} as orders
        on delivery.window_key = orders.window_key and delivery.ad_key = orders.ad_key
    left join reaches on delivery.window_key = reaches.window_key and delivery.ad_key = reaches.ad_key
    left join reached_roots on groups.root_key = reached_roots.root_key
)

-- what cost nothing, or what nobody knows the cost of, has no rate: its events would raise that of all others
select
    window_key,
    ad_key,
    profile_key,
    group_key,
    root_key,
    {% for layer in score_layers() -%}
        {% set exists = layer.if or 'true' -%}
        case
            when {{ exists }} and {{ layer.e }} > 0 then greatest(coalesce({{ layer.k }}, 0), 0)
            when {{ exists }} then 0
        end as {{ layer.name }}_events,
        case when {{ exists }} then greatest(coalesce({{ layer.e }}, 0), 0) end as {{ layer.name }}_exposure,
    {% endfor -%}
    coalesce(relative_value, 0) as relative_value,
    coalesce(valued_orders, 0) as valued_orders
from ads
-- rows of a cohort side by side: the sums over cohorts that follow find theirs at hand
order by group_key
