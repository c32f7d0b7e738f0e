{% set parts = ['priors.root_cell_key'] %}
{% set rungs = ['root', 'format', 'warmth', 'geo', 'placement'] %}

with evidence as (
    select
        cell_key,
        events as k,
        exposure as e
    from {{ ref('int_score_evidence') }}
),

priors_0 as (
    select
        cells.cell_key,
        roots.root_cell_key,
        groups.format,
        groups.warmth,
        groups.geo,
        groups.placement,
        roots.scale,
        roots.default_strength as a,
        roots.mean * roots.scale as mean
    from {{ ref('int_score_cells') }} as cells
    inner join {{ ref('int_score_groups') }} as groups on cells.group_key = groups.group_key
    inner join {{ ref('int_score_roots') }} as roots
        on cells.root_key = roots.root_key and cells.layer_no = roots.layer_no
)

{% for rung in rungs -%}
    {%- do parts.append('priors.' ~ rung) if rung != 'root' -%}
    , sums_{{ loop.index }} as (
        select
            priors.cell_key,
            {{ exact_sum('evidence.k * priors.scale / (evidence.e * priors.mean + priors.a)') }} as pulls,
            {{ exact_sum(reliability('evidence.e * priors.mean', 'priors.a')) }} as weights
        from evidence
        inner join priors_{{ loop.index0 }} as priors on evidence.cell_key = priors.cell_key
        group by priors.cell_key
    ),

    pooled_{{ loop.index }} as (
        select
            priors.*,
            cast(sum(sums.pulls) over (partition by {{ parts | join(', ') }}) as double) as pulls,
            cast(sum(sums.weights) over (partition by {{ parts | join(', ') }}) as double) as weights
        from priors_{{ loop.index0 }} as priors
        inner join sums_{{ loop.index }} as sums on priors.cell_key = sums.cell_key
    ),

    priors_{{ loop.index }} as (
        select
            pooled.cell_key,
            pooled.root_cell_key,
            pooled.format,
            pooled.warmth,
            pooled.geo,
            pooled.placement,
            pooled.scale,
            pooled.a,
            {{ pulled_mean(
                'pooled.mean', 'pooled.pulls', 'pooled.weights', ('0 * ' if rung == 'root' else '') ~ 'constants.pseudo_ads'
            ) }} as mean
        from pooled_{{ loop.index }} as pooled
        cross join {{ ref('int_score_constants') }} as constants
    )
{% endfor %}

select cell_key, root_cell_key, scale, mean
from priors_{{ rungs | length }}
