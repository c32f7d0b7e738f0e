{% set parts = ['priors.root_key', 'priors.layer_no'] %}
{% set rungs = ['root', 'format', 'warmth', 'geo', 'placement'] %}

with evidence as (
    select
        group_key,
        layer_no,
        cast(events as double) as k,
        cast(exposure as double) as e
    from {{ ref('int_score_evidence') }}
),

priors_0 as (
    select
        groups.group_key,
        groups.root_key,
        groups.format,
        groups.warmth,
        groups.geo,
        groups.placement,
        roots.layer_no,
        roots.scale,
        roots.default_strength as a,
        roots.mean * roots.scale as mean
    from {{ ref('int_score_groups') }} as groups
    inner join {{ ref('int_score_roots') }} as roots on groups.root_key = roots.root_key
)

{% for rung in rungs -%}
    {%- do parts.append('priors.' ~ rung) if rung != 'root' -%}
    , sums_{{ loop.index }} as (
        select
            priors.group_key,
            priors.layer_no,
            {{ exact_sum('evidence.k * priors.scale / (evidence.e * priors.mean + priors.a)') }} as pulls,
            {{ exact_sum(reliability('evidence.e * priors.mean', 'priors.a')) }} as weights
        from evidence
        inner join priors_{{ loop.index0 }} as priors
            on evidence.group_key = priors.group_key and evidence.layer_no = priors.layer_no
        group by priors.group_key, priors.layer_no
    ),

    pooled_{{ loop.index }} as (
        select
            priors.*,
            cast(sum(sums.pulls) over (partition by {{ parts | join(', ') }}) as double) as pulls,
            cast(sum(sums.weights) over (partition by {{ parts | join(', ') }}) as double) as weights
        from priors_{{ loop.index0 }} as priors
        inner join sums_{{ loop.index }} as sums
            on priors.group_key = sums.group_key and priors.layer_no = sums.layer_no
    ),

    priors_{{ loop.index }} as (
        select
            pooled.group_key,
            pooled.root_key,
            pooled.format,
            pooled.warmth,
            pooled.geo,
            pooled.placement,
            pooled.layer_no,
            pooled.scale,
            pooled.a,
            {{ pulled_mean(
                'pooled.mean', 'pooled.pulls', 'pooled.weights', ('0 * ' if rung == 'root' else '') ~ 'constants.pseudo_ads'
            ) }} as mean
        from pooled_{{ loop.index }} as pooled
        cross join {{ ref('int_score_constants') }} as constants
    )
{% endfor %}

select group_key, root_key, layer_no, scale, mean
from priors_{{ rungs | length }}
