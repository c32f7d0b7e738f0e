{{ by_conversion() }}
{{ packed(runs=['conversion_key'], plain=['destination_key', 'k', 'w_dec', 'flags']) }}

{% for slice in person_slices() -%}
    select
        paths.conversion_key,
        touches.destination_key,
        cast(count(*) as int) as k,
        cast(sum({{ decay_units('touches.ts', 'paths.newest_ts', 'paths.ln2_over_hl') }}) as bigint) as w_dec,
        cast(bit_or(
            case when touches.pos_l = paths.p_last then 1 else 0 end
            + case when touches.pos_f = paths.p_first then 2 else 0 end
            + case when touches.pos_l = paths.p_lnd then 4 else 0 end
            + case when touches.prev_set < paths.p_from then 8 else 0 end
            + case when touches.prev_camp < paths.p_from then 16 else 0 end
        ) as smallint) as flags
    from {{ changed_conversions('int_path_bounds') }} as paths
    inner join {{ ref('int_touches') }} as touches
        on
            paths.person_key = touches.person_key
            and paths.p_from <= touches.pos_l
            and paths.p_last >= touches.pos_l
    {{ within(slice, 'paths.person_key') }}
    group by paths.conversion_key, touches.destination_key
    {{ 'union all' if not loop.last }}
{% endfor %}
