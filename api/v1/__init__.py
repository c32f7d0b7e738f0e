"""Version 1 of the interface: the one list of its blueprints."""

from __future__ import annotations

from api.http import Blueprint
from api.v1 import campaigns

BLUEPRINTS: tuple[Blueprint, ...] = (campaigns.bp,)
