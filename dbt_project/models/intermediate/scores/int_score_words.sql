with words as (
    {%- for trait in ['channel', 'format', 'objective', 'audience_warmth'] %}
    select {{ trait }} as word
    from {{ ref('int_ad_traits') }}
    where {{ trait }} is not null
    group by {{ trait }}
    union
    {%- endfor %}
    select word
    from {{ ref('int_score_values') }}
    union
    select 'mixed'
    union
    select 'unknown'
)

-- in the order of the words, so that to order by numbers is to order by words
select cast(row_number() over (order by word) as int) as word_no, word
from words
where word is not null
