{{ config(meta={
    'description': 'The weights of a path add up to one, and its cents to the whole amount.',
    'dagster': {'ref': {'name': 'int_credit_cents'}}
}) }}

-- Of every path: each destination's weight is in (0, 1], the weights are exactly 1 under every model, and so is the
-- number of destinations that a single-touch model picks. Of every amount: its cents are all of it.
with paths as (
    select
        paths.conversion_key,
        min(credits.k) as least_k,
        min(credits.w_dec) as least_w_dec,
        sum(credits.k) - paths.n as k_error,
        sum(credits.w_dec) - paths.s_dec as w_dec_error
        {%- for model in credit_models() if model.bit is not none %},
        sum(case when credits.flags & {{ model.bit }} <> 0 then 1 else 0 end) as {{ model.name }}_picks
        {%- endfor %}
    from {{ judged_rows('int_paths', 'int_changed_conversions', ['conversion_key']) }} as paths
    inner join {{ ref('int_credits') }} as credits on paths.conversion_key = credits.conversion_key
    group by paths.conversion_key, paths.n, paths.s_dec
),

amounts as (
    select
        cents.conversion_key,
        min(cents.cents) as least_cents,
        max(abs(cents.cents_of_model - coalesce(conversions.cash_minor, conversions.pipeline_minor))) as cents_error
    from (
        select conversion_key, model, min(cents) as cents, sum(cents) as cents_of_model
        from {{ judged_rows('int_credit_cents', 'int_changed_conversions', ['conversion_key']) }}
        group by conversion_key, model
    ) as cents
    inner join {{ ref('int_conversions') }} as conversions on cents.conversion_key = conversions.conversion_key
    group by cents.conversion_key
)

select conversion_key, 'weights' as broken
from paths
where
    least_k <= 0 or least_w_dec <= 0 or k_error <> 0 or w_dec_error <> 0
    {%- for model in credit_models() if model.bit is not none %}
    or {{ model.name }}_picks <> 1
    {%- endfor %}
union all
select conversion_key, 'cents' as broken
from amounts
where least_cents < 0 or cents_error <> 0
