"""Reading what the caller sent: strict JSON bodies, and one error per request that names the field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

import marshmallow as ma
from flask import Request
from webargs.flaskparser import FlaskParser

from api import errors
from api.bodies import may_be_left_out
from api.query_plans import plan_of
from data_contracts.records import members
from data_contracts.values import unwritable

MAX_DEPTH = 32
# what has fewer digits in a row holds no number of more than 64 bits
_LONG = re.compile(rb"[0-9]{19}")


class ArgumentsParser(FlaskParser):
    """webargs, with the catalogue's codes.

    Query and path: `invalid_parameter`; body: `validation_error`; or the code in the schema's attribute `error_code`.
    Unknown query names are the guard's business, because several schemas may share one query.
    """

    def load_json(self, req: Request, schema: ma.Schema) -> Any:
        """The body as strict JSON; 400 invalid_request for anything else.

        Where nothing must be sent, no body is an empty object. A schema that names a `payload_part` also takes a form,
        whose part of that name holds the JSON.
        """
        if may_be_left_out(schema) and not req.get_data(cache=True):
            return {}
        part: str | None = getattr(schema, "payload_part", None)
        if part is None or req.mimetype != "multipart/form-data":
            return _bounded(schema, _holdable(parse_body(req, parse_int=int), req.get_data()))
        payloads = req.form.getlist(part)
        if len(payloads) != 1:
            raise errors.INVALID_CONTENT(f"{part}: there must be one part of this name.")
        text = payloads[0].encode()
        return _bounded(schema, _holdable(parse_json(text, parse_int=int), text))

    def parse(
        self, argmap: Any, req: Request | None = None, *, location: str | None = None, validate: Any = None, **more: Any
    ) -> Any:
        """As webargs does; a query that nothing is wrong with is read by its plan."""
        if location == "query" and validate is None and isinstance(argmap, type):
            plan = plan_of(argmap)
            if plan is not None:
                # what is wrong, and in whose words, is found by reading it again
                with suppress(ma.ValidationError):
                    return plan.read((req or self.get_default_request()).args)
        return super().parse(argmap, req, location=location, validate=validate, **more)

    def _get_schema(self, argmap: Any, req: Request) -> ma.Schema:
        # a schema copies all of its fields when it is made, which takes longer than reading a query with it
        return _made(argmap) if isinstance(argmap, type) else super()._get_schema(argmap, req)

    def handle_error(
        self,
        error: ma.ValidationError,
        req: Request,
        schema: ma.Schema,
        *,
        error_status_code: int | None,
        error_headers: Mapping[str, str] | None,
    ) -> NoReturn:
        location, messages = next(iter(error.messages_dict.items()))
        fallback = errors.VALIDATION_ERROR if location == "json" else errors.INVALID_PARAMETER
        # what a body should not hold at all is never the matter of one code
        is_own = location != "json" or not set(messages).isdisjoint(schema.fields)
        code: errors.Code = getattr(schema, "error_code", fallback) if is_own else fallback
        raise code(first_message(messages, schema)) from None


@cache
def _made(schema: type[ma.Schema]) -> ma.Schema:
    return schema()


def first_message(messages: Any, schema: ma.Schema) -> str:
    """One sentence on the first wrong field in declared order, e.g. `customers[3].email: Not a valid email address.`"""
    if not isinstance(messages, Mapping):
        return str(messages[0])
    declared = [field.data_key or name for name, field in schema.fields.items()]
    # of a body that is an array they are the places in it
    order = [name for name in declared if name in messages] + sorted(messages, key=str)
    path, found = "", messages[order[0]]
    if order[0] != "_schema":
        path = f"[{order[0]}]" if isinstance(order[0], int) else order[0]
    within = _member(schema, order[0])
    while isinstance(found, Mapping):
        key, found = next(iter(found.items()))
        # of a mapping's member marshmallow tells apart its key and its value
        told = key == "_schema" or (within is None and key in {"key", "value"})
        path += "" if told else f"[{key}]" if isinstance(key, int) else f".{key}"
        within = _member(within, key)
    text = found[0] if isinstance(found, list) else found
    return f"{path[:200]}: {text}" if path else str(text)


def _member(within: Any, key: Any) -> Any:
    """The schema or field that errors under `key` are about; None for a member of a mapping."""
    if isinstance(within, ma.fields.Nested):
        within = within.schema
    if isinstance(within, ma.Schema):
        named = {field.data_key or name: field for name, field in within.fields.items()}
        return named.get(key, within)
    return within.inner if isinstance(within, ma.fields.List) else None


def parse_body(request: Request, *, parse_int: Callable[[str], int] | None = None) -> Any:
    """The JSON value of a request body.

    400 invalid_request for another content type, a compressed or empty body, bad UTF-8, NaN and Infinity, numbers
    too large to hold, a key given twice in one object, and nesting over 32 levels. `parse_int` is as in `parse_json`.
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise errors.INVALID_REQUEST("Compressed request bodies are not accepted.", reason="content_encoding")
    if request.mimetype != "application/json":
        raise errors.INVALID_REQUEST("The body must be application/json.", reason="wrong_content_type")
    return parse_json(request.get_data(cache=True), parse_int=parse_int)


def parse_json(text: bytes, *, parse_int: Callable[[str], int] | None = None) -> Any:
    """A JSON value, as strictly as `parse_body` reads one; 400 invalid_request.

    A whole number has at most 64 bits unless `parse_int` reads it otherwise.
    """
    try:
        value = json.loads(
            text.decode(),
            object_pairs_hook=members,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_told(parse_int or _whole),
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError as problem:
        told = f"The body is not valid JSON: {problem}."
        raise errors.INVALID_REQUEST(told[:300], reason="malformed_json") from None
    if depth(value) > MAX_DEPTH:
        raise _too_deep()
    return value


def depth(value: Any) -> int:
    """How many arrays and objects enclose the innermost value; 0 for a scalar."""
    levels, layer = 0, [value]
    while layer := [item for item in layer if isinstance(item, (dict, list))]:
        levels += 1
        layer = [inner for item in layer for inner in (item.values() if isinstance(item, dict) else item)]
    return levels


def _holdable(value: Any, text: bytes) -> Any:
    """The value of a JSON text; a ValidationError for what is within it that no answer and no database holds."""
    # in UTF-8 such texts can only be escaped
    problems = _unholdable(value) if b"\\u" in text or _LONG.search(text) else None
    if problems is not None:
        raise ma.ValidationError(problems)
    return value


def _bounded(schema: ma.Schema, value: Any) -> Any:
    """The value of a body; a ValidationError for the first of its lists that is too long, before its items are read.

    marshmallow looks at the length of a list last: of a megabyte of items that are nothing it made 350,000 errors.
    """
    for name, field in schema.fields.items() if isinstance(value, Mapping) else ():
        told = value.get(field.data_key or name)
        try:
            if isinstance(field, ma.fields.Nested) and not field.many:
                _bounded(field.schema, told)
            for bound in field.validators if isinstance(told, list) else ():
                if isinstance(bound, ma.validate.Length) and bound.max is not None and len(told) > bound.max:
                    bound(told)
        except ma.ValidationError as problem:
            raise ma.ValidationError({field.data_key or name: problem.messages}) from None
    return value


def _unholdable(value: Any) -> Any:
    """What is wrong with the first of those, in marshmallow's form: under the names of the members that lead there."""
    if isinstance(value, int) and not _is_64_bits(value):
        return ["a whole number has at most 64 bits"]
    if isinstance(value, str):
        problem = unwritable(value)
        return problem and [problem]
    within = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in within:
        problem = unwritable(name) if isinstance(name, str) else None
        if problem is not None:
            return {"_schema": [f"a name {problem}"]}
        found = _unholdable(member)
        if found is not None:
            return {name: found}
    return None


def _too_deep() -> errors.ApiError:
    return errors.INVALID_REQUEST(f"The body is nested deeper than {MAX_DEPTH} levels.", reason="too_deep")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _told(read: Callable[[str], int]) -> Callable[[str], int]:
    def whole(text: str) -> int:
        try:
            return read(text)
        except ValueError:
            # of more digits than it reads Python says what its own programmer may set
            raise ValueError("a number is too large") from None

    return whole


def _whole(text: str) -> int:
    number = int(text)
    if not _is_64_bits(number):
        raise ValueError("a number is too large")
    return number


def _is_64_bits(number: int) -> bool:
    # no answer can hold more, nor any column
    return -(2**63) <= number < 2**63


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number
