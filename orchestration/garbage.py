"""How often a process of ours searches its objects for garbage."""

from __future__ import annotations

import gc

# objects made before a search, and searches before a wider one
THRESHOLDS = (50_000, 20, 50)


def search_seldom() -> None:
    """Let 50,000 objects come before a search for garbage, where Python searches after 700.

    What a command and dbt import and read stays, and to search it again and again was two of 36 CPU seconds of a small
    build's command and a twentieth of what dbt costs.
    """
    gc.set_threshold(*THRESHOLDS)
