{% set rungs = ['root_key', 'format_key', 'warmth_key', 'geo_key', 'group_key'] %}

with evidence as (
    select
        evidence.group_key
        {%- for layer in score_layers() %},
            evidence.{{ layer.name }}_events * roots.{{ layer.name }}_scale as {{ layer.name }}_k,
            cast(evidence.{{ layer.name }}_exposure as double) as {{ layer.name }}_exposure
        {%- endfor %}
    from {{ ref('int_score_evidence') }} as evidence
    inner join {{ ref('int_score_roots') }} as roots on evidence.root_key = roots.root_key
),

priors_0 as (
    select
        groups.group_key,
        groups.root_key,
        groups.format_key,
        groups.warmth_key,
        groups.geo_key
        {%- for layer in score_layers() %},
            roots.{{ layer.name }}_scale,
            roots.{{ layer.name }}_strength,
            roots.{{ layer.name }}_mean * roots.{{ layer.name }}_scale as {{ layer.name }}_mean
        {%- endfor %}
    from {{ ref('int_score_groups') }} as groups
    inner join {{ ref('int_score_roots') }} as roots on groups.root_key = roots.root_key
)

{% for rung in rungs -%}
    {% set pseudo = ('0 * ' if rung == 'root_key' else '') ~ 'constants.pseudo_ads' -%}
    , sums_{{ loop.index }} as (
        select
            priors.{{ rung }}
            {%- for layer in score_layers() %}
                {%- set x = 'evidence.' ~ layer.name ~ '_exposure * priors.' ~ layer.name ~ '_mean' %}
                {%- set k = 'evidence.' ~ layer.name ~ '_k' %}
                {%- set a = 'priors.' ~ layer.name ~ '_strength' %},
                {{ exact_sum(k ~ ' / (' ~ x ~ ' + ' ~ a ~ ')') }} as {{ layer.name }}_pulls,
                {{ exact_sum_of_shares(reliability(x, a)) }} as {{ layer.name }}_weights
            {%- endfor %}
        from evidence
        inner join priors_{{ loop.index0 }} as priors on evidence.group_key = priors.group_key
        group by priors.{{ rung }}
    ),

    priors_{{ loop.index }} as (
        select
            priors.group_key,
            priors.root_key,
            priors.format_key,
            priors.warmth_key,
            priors.geo_key
            {%- for layer in score_layers() %},
                priors.{{ layer.name }}_scale,
                priors.{{ layer.name }}_strength,
                {{ pulled_mean(
                    'priors.' ~ layer.name ~ '_mean', 'sums.' ~ layer.name ~ '_pulls',
                    'sums.' ~ layer.name ~ '_weights', pseudo
                ) }} as {{ layer.name }}_mean
            {%- endfor %}
        from priors_{{ loop.index0 }} as priors
        inner join sums_{{ loop.index }} as sums on priors.{{ rung }} = sums.{{ rung }}
        cross join {{ ref('int_score_constants') }} as constants
    )
{% endfor %}

select
    group_key,
    root_key
    {%- for layer in score_layers() %},
        {{ layer.name }}_scale,
        {{ layer.name }}_strength,
        {{ layer.name }}_mean
    {%- endfor %}
from priors_{{ rungs | length }}
