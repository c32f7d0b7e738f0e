{# People whose every touch is to be looked at anew, from the first second on: those who gained or lost a set of
   identifiers that was somebody's before, and everybody of a profile whose settings or calendar changed. #}
{% macro people_changed_wholly() -%}
    select keys.person_key, cast(0 as bigint) as ts
    from {{ changes_of('int_identity_keys') }} as keys
    inner join (
        select distinct profile_key, identity_key
        from {{ changes_of('int_identity_keys') }}
        where not came
    ) as known
        on keys.profile_key = known.profile_key and keys.identity_key = known.identity_key
    union all
    select keys.person_key, cast(0 as bigint) as ts
    from {{ ref('int_identity_keys') }} as keys
    inner join {{ ref('int_profiles') }} as profiles on keys.profile_key = profiles.profile_key
    where {{ is_profile_changed() }}
{%- endmacro %}

{# Whether the settings or the calendar of `profiles` changed since the build before. #}
{% macro is_profile_changed() -%}
    (
        profiles.profile_key in (select changed.profile_key from {{ changes_of('int_profiles') }} as changed)
        or profiles.time_zone in (select changed.time_zone from {{ changes_of('stg_app__calendar') }} as changed)
    )
{%- endmacro %}
