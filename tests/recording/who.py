"""Who asks in the walk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Who:
    """Authorization headers: the demo's owner, a key of its profile with every scope, one with one, and a viewer.

    `customer` is the shop's own reference of somebody whom it knows.
    """

    owner: str
    key: str
    narrow: str
    viewer: str
    customer: str
