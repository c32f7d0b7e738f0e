{% set rungs = ['root_cell_key', 'format_cell_key', 'warmth_cell_key', 'geo_cell_key', 'cell_key'] %}

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
        cells.root_cell_key,
        cells.format_cell_key,
        cells.warmth_cell_key,
        cells.geo_cell_key,
        roots.scale,
        roots.default_strength as a,
        roots.mean * roots.scale as mean
    from {{ ref('int_score_cells') }} as cells
    inner join {{ ref('int_score_roots') }} as roots on cells.root_cell_key = roots.root_cell_key
)

{% for rung in rungs -%}
    , sums_{{ loop.index }} as (
        select
            priors.{{ rung }} as rung_key,
            {{ exact_sum('evidence.k * priors.scale / (evidence.e * priors.mean + priors.a)') }} as pulls,
            {{ exact_sum(reliability('evidence.e * priors.mean', 'priors.a')) }} as weights
        from evidence
        inner join priors_{{ loop.index0 }} as priors on evidence.cell_key = priors.cell_key
        group by priors.{{ rung }}
    ),

    priors_{{ loop.index }} as (
        select
            priors.cell_key,
            priors.root_cell_key,
            priors.format_cell_key,
            priors.warmth_cell_key,
            priors.geo_cell_key,
            priors.scale,
            priors.a,
            {{ pulled_mean(
                'priors.mean', 'cast(sums.pulls as double)', 'cast(sums.weights as double)',
                ('0 * ' if rung == 'root_cell_key' else '') ~ 'constants.pseudo_ads'
            ) }} as mean
        from priors_{{ loop.index0 }} as priors
        inner join sums_{{ loop.index }} as sums on priors.{{ rung }} = sums.rung_key
        cross join {{ ref('int_score_constants') }} as constants
    )
{% endfor %}

select cell_key, root_cell_key, scale, mean
from priors_{{ rungs | length }}
