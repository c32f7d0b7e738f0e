"""Conversions: how many there were, each of them, and the path that led to one."""

from api.v1.conversions.routes import bp

__all__ = ["bp"]
