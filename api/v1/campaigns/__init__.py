"""Campaign performance: what each campaign, ad set and ad cost and brought in."""

from api.v1.campaigns.routes import bp

__all__ = ["bp"]
