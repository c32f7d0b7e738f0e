"""Quality of what the figures rest on: which paid clicks told their ad."""

from api.v1.quality.ad_ids import bp

__all__ = ["bp"]
