"""The profile as a whole: its window beside the one before, and day by day."""

from api.v1.analytics.routes import bp

__all__ = ["bp"]
