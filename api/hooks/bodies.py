"""Bodies of deliveries that their sender signed."""

from __future__ import annotations

import json
from typing import Any

import orjson

from connectors.whole_text import no_constant, whole


def parsed(body: bytes) -> Any:
    """The JSON of a delivery, its texts `whole`. Raises ValueError for what is none.

    A text that somebody wrote may be cut in the middle of a character; what stands beside it is wanted all the same.
    """
    try:
        return whole(orjson.loads(body), body)
    except orjson.JSONDecodeError:
        # it takes no half of a surrogate pair, nor says that this was all that is wrong
        return _patiently(body)


def _patiently(body: bytes) -> Any:
    try:
        return whole(json.loads(body, parse_constant=no_constant), body)
    except RecursionError:
        raise ValueError("nested too deep") from None
