"""A body is read as JSON in one way only; whatever two parsers could read differently is refused."""

from __future__ import annotations

import json

import pytest

from tests.api.conftest import Caller

BAD = {
    "empty": (b"", "malformed_json"),
    "cut": (b'{"title": "a"', "malformed_json"),
    "two values": (b'{"title": "a"} {}', "malformed_json"),
    "a key twice": (b'{"title": "a", "title": "b"}', "malformed_json"),
    "a key twice inside": (b'{"title": "a", "customers": [{"email": "a", "email": "b"}]}', "malformed_json"),
    "NaN": (b'{"title": "a", "amount": NaN}', "malformed_json"),
    "Infinity": (b'{"title": "a", "amount": -Infinity}', "malformed_json"),
    "a number beyond floats": (b'{"title": "a", "amount": 1e999}', "malformed_json"),
    "an endless integer": (b'{"title": "a", "amount": ' + b"9" * 5000 + b"}", "malformed_json"),
    "broken UTF-8": (b'{"title": "\xff"}', "malformed_json"),
    "33 levels": (b"[" * 33 + b"]" * 33, "too_deep"),
    "a hundred thousand levels": (b"[" * 100_000 + b"]" * 100_000, "too_deep"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_body_that_is_not_strict_json_is_refused(caller: Caller, name: str) -> None:
    body, reason = BAD[name]
    response = caller.post("/notes", data=body, content_type="application/json")
    assert response.status_code == 400
    error = response.get_json()["error"]
    assert (error["code"], error["reason"]) == ("invalid_request", reason)


def test_a_key_that_is_there_twice_is_named(caller: Caller) -> None:
    response = caller.post("/notes", data=BAD["a key twice inside"][0], content_type="application/json")
    assert "the key 'email' is there twice" in response.get_json()["error"]["message"]


def test_32_levels_are_read(caller: Caller) -> None:
    response = caller.post("/notes", data=b"[" * 32 + b"]" * 32, content_type="application/json")
    assert response.get_json()["error"]["code"] == "validation_error"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/vnd.api+json", None])
def test_another_content_type_is_refused(caller: Caller, kind: str | None) -> None:
    response = caller.post("/notes", data=b'{"title": "a"}', content_type=kind)
    assert (response.status_code, response.get_json()["error"]["reason"]) == (400, "wrong_content_type")


def test_a_charset_parameter_is_no_other_content_type(caller: Caller) -> None:
    response = caller.post("/notes", data=b'{"title": "a"}', content_type="application/json; charset=utf-8")
    assert response.status_code == 201


def test_a_compressed_body_is_refused(caller: Caller) -> None:
    headers = {"Content-Encoding": "gzip"}
    response = caller.post("/notes", data=b"\x1f\x8b", headers=headers, content_type="application/json")
    assert (response.status_code, response.get_json()["error"]["reason"]) == (400, "content_encoding")


def test_the_first_wrong_field_in_declared_order_is_named(caller: Caller) -> None:
    body = {"zzz": 1, "customers": [{"email": "a@b.example"}, {"email": "no"}], "amount": "x", "title": "a"}
    for field in ("amount", "customers[1].email", "zzz"):
        response = caller.post("/notes", json=body)
        assert response.status_code == 422
        assert response.get_json()["error"]["message"].startswith(f"{field}: ")
        body.pop(field.split("[")[0])


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**40])
def test_a_whole_number_of_more_than_64_bits_is_named(caller: Caller, number: int) -> None:
    for body, field in (({"amount": number}, "amount"), ({"customers": [{"email": number}]}, "customers[0].email")):
        sent = json.dumps({"title": "a", **body})
        response = caller.post("/notes", data=sent, content_type="application/json")
        assert (response.status_code, response.get_json()["error"]["code"]) == (422, "validation_error")
        assert response.get_json()["error"]["message"] == f"{field}: a whole number has at most 64 bits"


def test_a_body_that_is_no_object_is_a_validation_error(caller: Caller) -> None:
    response = caller.post("/notes", json=[1])
    assert (response.status_code, response.get_json()["error"]["code"]) == (422, "validation_error")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"[{2**63}]", "[0]: a whole number has at most 64 bits"),
        (f"[1, [{{}}, {2**63}]]", "[1][1]: a whole number has at most 64 bits"),
        (f'[{{"n": {2**63}}}]', "[0].n: a whole number has at most 64 bits"),
        (r'["a\u0000"]', "[0]: contains a NUL character"),
        (r'[{"a\u0000": 1}]', "[0]: a name contains a NUL character"),
    ],
)
def test_what_no_column_holds_is_named_in_an_array_too(caller: Caller, body: str, message: str) -> None:
    # such bodies had been answered with 500
    response = caller.post("/notes", data=body, content_type="application/json")
    assert (response.status_code, response.get_json()["error"]["code"]) == (422, "validation_error")
    assert response.get_json()["error"]["message"] == message


def test_a_body_on_a_read_is_ignored(caller: Caller) -> None:
    assert caller.get("/notes", data=b"{", content_type="application/json").status_code == 200
