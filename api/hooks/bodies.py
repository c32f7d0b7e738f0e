"""Bodies of deliveries that their sender signed."""

from __future__ import annotations

import json
from typing import Any

import orjson
from flask import request

from api import asked
from api.guard import MEBIBYTE
from connectors.whole_text import no_constant, whole

# the chat app puts up to 1,000 messages and 3 MB into one, and an order of 500 lines is more than a mebibyte;
# whatever is refused comes again as large as it was, until its sender gives up
MOST_BYTES = 4 * MEBIBYTE


def taken() -> bytes:
    """The bytes of a delivery as they came; 413 payload_too_large for more than 4 MiB."""
    asked.refuse_size(MOST_BYTES, sized=True)
    return request.get_data(cache=False)


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
