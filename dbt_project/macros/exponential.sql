{# e^(-y), y >= 0, to 3e-15 of itself, never below 2^-62. Only of operations that IEEE 754 rounds in one way: libraries'
   exponentials differ in the last bits between engines and between machines, and weights must not. e^(-y) is a power
   of two times a polynomial on [-ln(2)/2, ln(2)/2], through Chebyshev nodes and exact at 0. #}
{% macro exp_of_minus(y) -%}
    ({{ exp_fraction(y) }} / cast(cast(1 as bigint) << cast(least({{ exp_halvings(y) }}, 62) as int) as double))
{%- endmacro %}

{# The power of two of e^(-y), and the polynomial, from 0.707 to 1.415, that it divides. #}
{% macro exp_halvings(y) -%}
    floor(({{ y }}) * 1.4426950408889634e0 + 5e-1)
{%- endmacro %}

{% macro exp_fraction(y) -%}
    {%- set rest = '((' ~ y ~ ') - ' ~ exp_halvings(y) ~ ' * 6.931471805599453e-1)' -%}
    {%- set coefficients = [
        '2.7620088445409746e-7', '-2.763265575933203e-6', '2.4801521295954376e-5', '-1.984119061583585e-4',
        '1.3888888917213717e-3', '-8.333333367332009e-3', '4.166666666662413e-2', '-1.6666666666615607e-1',
        '5.000000000000001e-1', '-1.0000000000000013e0', '1e0'
    ] -%}
    {%- set polynomial = namespace(sql=coefficients[0]) -%}
    {%- for coefficient in coefficients[1:] -%}
        {%- set polynomial.sql = '(' ~ coefficient ~ ' + ' ~ rest ~ ' * ' ~ polynomial.sql ~ ')' -%}
    {%- endfor -%}
    {{ polynomial.sql }}
{%- endmacro %}

{# Cube root, x > 0, to 1e-9 of itself above x = 1e-6: six decimals of the library's root, which all agree on, and one of
   Newton's steps from there. #}
{% macro cube_root(x) -%}
    {%- set near = '(greatest(round(cbrt(' ~ x ~ ') * 1e6), 1) / 1e6)' -%}
    ((2 * {{ near }} + {{ x }} / ({{ near }} * {{ near }})) / 3)
{%- endmacro %}
