{# Condition of a join of `profiles` with `calendar` (stg_app__calendar): the row that has the local day of an epoch second
   in the profile's zone. #}
{% macro on_local_day(ts) -%}
    profiles.time_zone = calendar.time_zone
    and cast(floor({{ ts }} / 86400.0) as int) = calendar.utc_day
    and {{ ts }} >= calendar.starts_at
    and {{ ts }} < calendar.ends_at
{%- endmacro %}
