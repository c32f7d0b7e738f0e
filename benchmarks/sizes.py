"""Sizes as people write them: 200k, 1M, 50M."""

from __future__ import annotations

import click

UNITS = {"k": 1_000, "M": 1_000_000}


class Sizes(click.ParamType):
    """A list of sizes with commas, such as 1M,10M."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        if isinstance(value, list):
            return value
        try:
            return [size(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list like 200k,1M", param, ctx)


def size(text: str) -> int:
    """A count from how it is written."""
    text = text.strip()
    unit = UNITS.get(text[-1:], 1)
    return int(text[:-1] if unit > 1 else text) * unit


def written(count: int) -> str:
    """How a count is written: 1M, 200k."""
    for unit, worth in reversed(UNITS.items()):
        if count % worth == 0 and count:
            return f"{count // worth}{unit}"
    return f"{count:,}"
