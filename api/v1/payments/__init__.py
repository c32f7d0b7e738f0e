"""Payments: what was captured, who paid, and what was taken back by hand."""

from api.v1.payments.routes import bp

__all__ = ["bp"]
