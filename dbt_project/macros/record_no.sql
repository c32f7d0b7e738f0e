{# Number of a landed record, bigint, unique in the whole lake: the number of its landing, which no other landing has,
   and its line within. Inside the warehouse it stands for the record wherever its natural key, a text, would be dear. #}
{% macro record_no(of='') -%}
    ({{ of }}_seq * 4294967296 + {{ of }}_line)
{%- endmacro %}
