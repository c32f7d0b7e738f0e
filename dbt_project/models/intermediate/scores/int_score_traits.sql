with ads as (
    select
        traits.ad_key,
        channels.word_no as channel_no,
        formats.word_no as format_no,
        objectives.word_no as objective_no,
        audiences.word_no as audience_no
    from {{ ref('int_ad_traits') }} as traits
    inner join {{ ref('int_score_words') }} as channels on traits.channel = channels.word
    inner join {{ ref('int_score_words') }} as formats on traits.format = formats.word
    inner join {{ ref('int_score_words') }} as objectives on traits.objective = objectives.word
    left join {{ ref('int_score_words') }} as audiences on traits.audience_warmth = audiences.word
)

select
    delivery.window_key,
    delivery.ad_key,
    ads.channel_no,
    ads.objective_no,
    ads.format_no,
    coalesce(ads.audience_no, majorities.audience_no, unknown.word_no) as warmth_no,
    coalesce(majorities.geo_no, unknown.word_no) as geo_no,
    coalesce(majorities.placement_no, unknown.word_no) as placement_no
from {{ ref('int_score_delivery') }} as delivery
inner join ads on delivery.ad_key = ads.ad_key
inner join {{ ref('int_score_words') }} as unknown on unknown.word = 'unknown'
left join {{ ref('int_score_majorities') }} as majorities
    on delivery.window_key = majorities.window_key and delivery.ad_key = majorities.ad_key
