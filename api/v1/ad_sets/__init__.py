"""Ad sets: what is done to them at their platform."""

from api.v1.ad_sets.routes import bp

__all__ = ["bp"]
