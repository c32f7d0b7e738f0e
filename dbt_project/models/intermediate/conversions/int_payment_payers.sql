with profiles as (
    select * from {{ ref('int_profiles') }}
),

refs as (
    select * from {{ ref('int_payment_refs') }}
),

people as (
    select * from {{ ref('int_person_identifiers') }}
),

ranked as (
    select
        refs.profile_key,
        refs.payment_ref,
        people.person_key,
        row_number() over (
            partition by refs.profile_key, refs.payment_ref
            order by payers.assigned_at desc, payers.payment_ref asc
        ) as turn
    from {{ ref('stg_app__payment_payers') }} as payers
    inner join profiles on payers.profile_id = profiles.profile_id
    inner join refs
        on
            profiles.profile_key = refs.profile_key
            and payers.payment_ref = refs.ref
    inner join people
        on
            profiles.profile_key = people.profile_key
            and payers.identifier_id
            = {{ uuid_v8('payers.profile_id', "'identifier'", "people.kind || ':' || people.value") }}
)

select
    profile_key,
    payment_ref,
    person_key
from ranked
where turn = 1
