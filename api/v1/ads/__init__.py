"""One ad: what it shows, what it delivered and what it brought in."""

from api.v1.ads.routes import bp

__all__ = ["bp"]
