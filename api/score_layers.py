"""The layers of scored ads as rows, one for each layer that exists for an ad; the snapshot has them side by side."""

from __future__ import annotations

from api.served import LAYER_FIGURES, LAYERS

_LISTS = ", ".join(
    f"unnest([{', '.join(f'{layer}_{figure}' for layer in LAYERS)}]) as {figure}" for figure in LAYER_FIGURES
)
_NAMES = ", ".join(f"'{layer}'" for layer in LAYERS)


def of_ads(which: str) -> str:
    """SQL of profile_key, entity_key, layer, weight, percentile, reliability, reason_rank, sample_confidence.

    `which` is the condition on `ad_score_layers` that tells the ads. `sample_confidence` is low, medium or high.
    """
    return f"""
        select
            * exclude (confidence_low_below, confidence_medium_below),
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
