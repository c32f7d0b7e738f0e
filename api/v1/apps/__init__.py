"""Apps that a workspace registered, and apps and agents that people connected."""

from api.v1.apps import agreements, connected
from api.v1.apps.routes import bp

__all__ = ["agreements", "bp", "connected"]
