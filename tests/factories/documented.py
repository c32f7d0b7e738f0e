"""What openapi.json says that an operation answers."""

from __future__ import annotations

from typing import Any

import jsonschema
from flask.testing import FlaskClient
from werkzeug.test import TestResponse


def check(client: FlaskClient, answer: TestResponse, path: str) -> None:
    """Fail where a JSON answer of `path`, as the document writes it, is not what the document says of its status."""
    document: dict[str, Any] = client.get("/openapi.json").get_json()
    described = document["paths"][path][answer.request.method.lower()]["responses"][str(answer.status_code)]
    schema = described["content"]["application/json"]["schema"]
    jsonschema.validate(answer.get_json(), {**schema, "components": document["components"]})
