{# A sum of doubles that is the same in any order, because threads add in no fixed one: whole billionths of a thousandth
   are added. No true term is near the bound; nonsense must not end everybody's build with an overflow. #}
{% macro exact_sum(x) -%}
    {{ exact_sum_of_shares('case when ' ~ x ~ ' > 999999 then 999999 else ' ~ x ~ ' end') }}
{%- endmacro %}

{# The same of shares: none is above 1, and to look costs as much as to divide. #}
{% macro exact_sum_of_shares(x) -%}
    {{ adapter.dispatch('exact_sum')('cast(floor(' ~ x ~ ' * 1e12 + 0.5) as bigint)') }}
{%- endmacro %}

{# sum(bigint) has 128 bits #}
{% macro duckdb__exact_sum(whole) -%}
    (cast(sum({{ whole }}) as double) / 1e12)
{%- endmacro %}

{% macro spark__exact_sum(whole) -%}
    (cast(sum(cast({{ whole }} as decimal(18, 0))) as double) / 1e12)
{%- endmacro %}
