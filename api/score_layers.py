"""The layers of scored ads as rows, one for each layer that exists for an ad; the snapshot has them side by side."""

from __future__ import annotations

from api.served import LAYER_FIGURES, LAYERS

_NAMES = ", ".join(f"'{layer}'" for layer in LAYERS)
_LISTS = ", ".join(
    f"unnest([{', '.join(f'{layer}_{figure}' for layer in LAYERS)}]) as {figure}" for figure in LAYER_FIGURES
)


def of_ads(which: str) -> str:
    """SQL of profile_key, entity_key, layer, percentile, reason_rank and sample_confidence: low, medium or high.

    `which` is the condition on `ad_score_layers` that tells the ads.
    """
    return f"""
        select
            profile_key, entity_key, layer, percentile, reason_rank,
            case
                when reliability < confidence_low_below then 'low'
                when reliability < confidence_medium_below then 'medium'
                else 'high'
            end as sample_confidence
        from (
            select profile_key, entity_key, confidence_low_below, confidence_medium_below,
                unnest([{_NAMES}]) as layer, {_LISTS}
            from ad_score_layers
            where {which}
        )
        where percentile is not null
    """  # noqa: S608 - constants are set in; values are bound
