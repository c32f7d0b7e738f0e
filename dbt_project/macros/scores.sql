{# Layers of the funnel in the order of their numbers. k: events, e: exposure, v: value of the events over the root's
   mean value, if: ads the layer exists for. #}
{% macro score_layers() -%}
    {{ return([
        {'name': 'delivery', 'k': 'coalesce(reach, impressions)', 'e': 'spend_minor'},
        {'name': 'attention', 'k': 'video_3s_views', 'e': 'impressions', 'if': "format = 'video'"},
        {'name': 'retention', 'k': 'video_15s_views', 'e': 'video_3s_views', 'if': "format = 'video'"},
        {'name': 'engagement', 'k': 'engagements', 'e': 'impressions'},
        {'name': 'click_intent', 'k': 'click_events', 'e': 'impressions'},
        {'name': 'postclick_messaging', 'k': 'messaging_conversations_started_7d', 'e': 'spend_minor'},
        {'name': 'reply_quality', 'k': 'messaging_first_replies', 'e': 'messaging_conversations_started_7d'},
        {'name': 'platform_conversions', 'k': 'platform_conversions', 'e': 'cast(matured_spend as double)'},
        {'name': 'attributed_pipeline', 'k': 'pipeline_outcomes', 'e': 'cast(matured_spend as double)'},
        {'name': 'attributed_revenue', 'k': 'cash_outcomes', 'e': 'cast(matured_spend as double)', 'v': 'relative_value'},
    ]) }}
{%- endmacro %}

{# A sum over a join of days, grouped by wider spans. The term of both sides keeps DuckDB from grouping one side by day
   before the join, which costs more than it saves: few rows share a day. #}
{% macro sum_of_days(x, day, same_day) -%}
    sum(case when {{ day }} = {{ same_day }} then {{ x }} end)
{%- endmacro %}

{# How much of an ad's own figure is believed, of x expected events under a prior as strong as a events: 0 to 1. #}
{% macro reliability(x, a) -%}
    ({{ x }} / ({{ x }} + {{ a }}))
{%- endmacro %}

{# Mean of a group drawn to the mean of the group around it by pseudo ads that are as reliable as any ad can be. pulls:
   sum of k/(x+a); weights: sum of x/(x+a). #}
{% macro pulled_mean(mean, pulls, weights, pseudo) -%}
    {{ mean }} * ({{ pseudo }} + {{ pulls }}) / ({{ pseudo }} + {{ weights }})
{%- endmacro %}

{# Moments of the relative variance between ads: three sums over ads of weight w, with k events where x were expected
   and leverage h, the ad's own part in the mean it is held against. #}
{% macro moment_sums(w, k, x, h, of="") -%}
    {{ exact_sum(w ~ ' * ((' ~ k ~ ') / ' ~ x ~ ' - 1) * ((' ~ k ~ ') / ' ~ x ~ ' - 1)') }} as {{ of }}seen,
    {{ exact_sum(w ~ ' / ' ~ x ~ ' * (1 - ' ~ h ~ ')') }} as {{ of }}by_chance,
    {{ exact_sum_of_shares(w ~ ' * (1 - ' ~ h ~ ')') }} as {{ of }}freedom
{%- endmacro %}

{# Relative variance between ads by moments: what is seen beyond chance. Needs moment_sums. #}
{% macro moment_cv2(seen, by_chance, freedom) -%}
    (({{ seen }} - {{ by_chance }}) / {{ freedom }})
{%- endmacro %}

{# That, moderated by default ads of the layer's default. weight: sum of w. #}
{% macro moderated_cv2(found, weight, default_cv2, default_ads) -%}
    ({{ default_ads }} * {{ default_cv2 }} + {{ weight }} * {{ found }}) / ({{ default_ads }} + {{ weight }})
{%- endmacro %}

{# Posterior mean of an ad's rate over the mean of its cohort: k events where x were expected. #}
{% macro relative_rate(a, k, x) -%}
    (({{ a }} + {{ k }}) / ({{ a }} + {{ x }}))
{%- endmacro %}

{# Standard score of P(a typical ad's rate < this ad's rate) for two gammas of shapes s0 and s1 whose means are as 1 to
   r; the cube root of a gamma is nearly normal (Wilson and Hilferty 1931, Paulson 1942). #}
{% macro cube_root_score(r, s0, s1) -%}
    {%- set root = cube_root(r) -%}
    ({{ root }} * (1 - 1 / (9 * ({{ s1 }}))) - (1 - 1 / (9 * ({{ s0 }}))))
    / sqrt({{ root }} * {{ root }} / (9 * ({{ s1 }})) + 1 / (9 * ({{ s0 }})))
{%- endmacro %}

{# Upper tail of the normal distribution for z >= 0, to 7.5e-8: Abramowitz and Stegun 26.2.17. #}
{% macro normal_tail(z) -%}
    {%- set t = '(1 / (1 + 0.2316419 * ' ~ z ~ '))' -%}
    {{ exp_of_minus(z ~ ' * ' ~ z ~ ' / 2') }} * 0.3989422804014327e0 * {{ t }} * (
        0.319381530 + {{ t }} * (-0.356563782 + {{ t }} * (1.781477937 + {{ t }} * (
            -1.821255978 + {{ t }} * 1.330274429)))
    )
{%- endmacro %}
