"""Health, readiness and the OpenAPI document."""

from __future__ import annotations

import gzip
import json
import resource
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import jsonschema
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.app import create_app
from api.models import OutgoingMail, Profile, WebhookDelivery, WebhookSubscription
from api.snapshot import snapshots
from api.webhooks.emitting import emit_for_profile
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts, served
from tests.factories.deployments import application, settings_of
from tests.fixtures.statements import statements
from touchledger.settings import Settings


def test_liveness_depends_on_nothing(settings: Settings) -> None:
    client = create_app(Settings(home=settings.home / "nowhere")).test_client()
    assert client.get("/healthz").get_json() == {"status": "ok"}


def test_a_prepared_deployment_is_ready_before_its_first_snapshot(client: FlaskClient) -> None:
    response = client.get("/readyz")
    checks = {"operational_db": "ok", "snapshot": "none", "outbox": "ok", "disk": "ok"}
    assert (response.status_code, response.get_json()) == (200, {"status": "ok", "checks": checks})


def test_readiness_says_what_fails(settings: Settings, client: FlaskClient) -> None:
    settings.published.mkdir(parents=True)
    (settings.published / "current.json").write_text("{")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.get_json()["checks"]["snapshot"] == "failing"
    snapshots(settings).close()


def test_a_database_on_a_disk_that_takes_no_writes_fails(
    settings: Settings, profile: Profile, client: FlaskClient
) -> None:
    # a file system that became read-only: each request with a credential was 503, and this said that all is well
    assert client.get("/readyz").status_code == 200
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        response = client.get("/readyz")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (response.status_code, response.get_json()["checks"]["operational_db"]) == (503, "failing")
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_whose_file_was_taken_away_fails(
    settings: Settings, profile: Profile, client: FlaskClient, replaced: bool
) -> None:
    # connections that were open went on with it, and all they wrote was gone with the process
    path, elsewhere = settings.home / "operational.db", settings.home / "elsewhere.db"
    assert client.get("/readyz").status_code == 200
    path.rename(elsewhere)
    if replaced:
        shutil.copy(elsewhere, path)
    response = client.get("/readyz")
    assert (response.status_code, response.get_json()["checks"]["operational_db"]) == (503, "failing")
    elsewhere.rename(path)
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("status", "minutes", "told"), [("active", 11, "late"), ("active", 9, "ok"), ("paused", 11, "ok")]
)
def test_webhooks_that_nobody_delivers_are_told_and_requests_served(
    settings: Settings, client: FlaskClient, profile: Profile, status: str, minutes: int, told: str
) -> None:
    subscription = subscribed(settings, profile)
    with db.transaction(settings.operational_url) as session:
        emit_for_profile(session, "report.ready", {}, profile.id)
        waiting = session.scalars(sa.select(WebhookDelivery)).one()
        waiting.next_attempt_at = db.now() - timedelta(minutes=minutes)
        session.get_one(WebhookSubscription, subscription.id).status = status
    response = client.get("/readyz")
    assert (response.status_code, response.get_json()["checks"]["outbox"]) == (200, told)


def test_what_waits_for_those_that_are_paused_is_not_gone_through(settings: Settings, client: FlaskClient) -> None:
    # 100,000 of them took each probe half a second
    engine = db.engine_for(settings.operational_url, durable=False)
    with statements(engine) as run:
        assert client.get("/readyz").status_code == 200
    (asked,) = (one for one in run if "webhook_deliveries" in one[0])
    with engine.connect() as connection:
        plan = [one.detail for one in connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1])]
    (step,) = (one for one in plan if "webhook_deliveries" in one)
    assert step.endswith("ix_webhook_deliveries_waiting (subscription_id=? AND next_attempt_at<?)")


@pytest.mark.parametrize(("status", "told"), [("queued", "late"), ("sent", "ok")])
def test_mail_that_nobody_sends_is_told_and_requests_served(
    settings: Settings, client: FlaskClient, status: str, told: str
) -> None:
    ripe = db.now() - timedelta(minutes=11)
    mail = OutgoingMail(kind="invitation", to_address="a@example.com", subject="x", status=status, next_attempt_at=ripe)
    with db.transaction(settings.operational_url) as session:
        session.add(mail)
    response = client.get("/readyz")
    assert (response.status_code, response.get_json()["checks"]["outbox"]) == (200, told)


def test_a_database_that_is_named_by_a_uri_is_ready(settings: Settings) -> None:
    named = Settings(home=settings.home, database_url=f"sqlite:///file:{settings.home}/operational.db?uri=true")
    response = create_app(named).test_client().get("/readyz")
    assert (response.status_code, response.get_json()["checks"]["operational_db"]) == (200, "ok")
    db.close_engines(named.operational_url)


def test_an_unmigrated_database_is_not_ready(home: object) -> None:
    settings = Settings(database_url="sqlite://")
    response = create_app(settings).test_client().get("/readyz")
    assert (response.status_code, response.get_json()["checks"]["operational_db"]) == (503, "failing")
    db.close_engines(settings.operational_url)


def test_a_published_snapshot_is_ready(settings: Settings, client: FlaskClient) -> None:
    served.publish(settings.published, {})
    assert client.get("/readyz").get_json()["checks"]["snapshot"] == "ok"
    snapshots(settings).close()


def test_an_unreachable_database_is_a_503_with_retry_after(settings: Settings, secret: str) -> None:
    broken = Settings(home=settings.home, database_url="postgresql+psycopg://nobody@127.0.0.1:1/none")
    client = create_app(broken).test_client()
    response = client.get("/api/v1/campaigns", headers={"Authorization": f"Bearer {secret}"})
    assert (response.status_code, response.get_json()["error"]["code"]) == (503, "database_unavailable")
    assert response.headers["Retry-After"] == "2"
    # each check waited for itself: 40 seconds of a thread where a process stood still in a write
    tried: list[object] = []
    sa.event.listen(db.engine_for(broken.operational_url, durable=False), "do_connect", lambda *_: tried.append(_))
    checks = client.get("/readyz").get_json()["checks"]
    assert (checks["operational_db"], checks["outbox"], len(tried)) == ("failing", "failing", 1)


@pytest.mark.parametrize("damage", ["page", "file"])
def test_a_damaged_database_is_a_503_and_no_fault_of_ours(settings: Settings, secret: str, damage: str) -> None:
    # it was 500, "quote the request_id", with a traceback in the log for each request
    path = settings.home / "operational.db"
    db.close_engines(settings.operational_url)
    with closing(sqlite3.connect(path)) as connection:
        ((size,),) = connection.execute("pragma page_size")
        ((page,),) = connection.execute("select rootpage from sqlite_master where name = 'api_keys'")
    whole = path.read_bytes()
    begin = size * (page - 1) if damage == "page" else 0
    path.write_bytes(whole[:begin] + b"\xff" * size + whole[begin + size :])
    client = create_app(settings).test_client()
    response = client.get("/api/v1/campaigns", headers={"Authorization": f"Bearer {secret}"})
    assert (response.status_code, response.get_json()["error"]["code"]) == (503, "database_unavailable")
    assert response.headers["Retry-After"] == "2"
    db.close_engines(settings.operational_url)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_database_that_takes_no_writes_is_a_503_and_not_ready(home: Path, database_url: str) -> None:
    # a standby takes them no more than this session does; every answer was 500, and the readiness ok
    secret = accounts.secret(database_url, accounts.profile(database_url))
    standby = settings_of(home, f"{database_url}?options=-cdefault_transaction_read_only%3Don")
    client = application(standby).test_client()
    response = client.get("/api/v1/campaigns", headers={"Authorization": f"Bearer {secret}"})
    assert (response.status_code, response.get_json()["error"]["code"]) == (503, "database_unavailable")
    assert response.headers["Retry-After"] == "2"
    ready = client.get("/readyz")
    assert (ready.status_code, ready.get_json()["checks"]["operational_db"]) == (503, "failing")
    db.close_engines(standby.operational_url)


def test_the_document_is_public_has_an_etag_and_is_the_same_at_both_addresses(client: FlaskClient) -> None:
    root, version = client.get("/openapi.json"), client.get("/api/v1/openapi.json")
    assert root.data == version.data
    assert root.headers["ETag"] == version.headers["ETag"]
    assert root.headers["Cache-Control"] == "public, no-cache"
    assert client.get("/openapi.json", headers={"If-None-Match": root.headers["ETag"]}).status_code == 304
    document = json.loads(root.data)
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": "/"}]
    assert len({operation["operationId"] for path in document["paths"].values() for operation in path.values()}) == sum(
        len(path) for path in document["paths"].values()
    )


def test_whoever_asks_first_at_the_same_moment_gets_the_whole_document(settings: Settings) -> None:
    app, together = create_app(settings), Barrier(4)

    def asked(_: int) -> bytes:
        together.wait()
        return app.test_client().get("/openapi.json").data

    with ThreadPoolExecutor(4) as threads:
        documents = set(threads.map(asked, range(4)))
    assert len(documents) == 1
    assert len(json.loads(documents.pop())["paths"]) > 100


def test_the_document_says_what_readiness_answers_when_a_check_fails(settings: Settings, client: FlaskClient) -> None:
    settings.published.mkdir(parents=True)
    (settings.published / "current.json").write_text("{")
    failing = client.get("/readyz")
    snapshots(settings).close()
    document = client.get("/openapi.json").get_json()
    described = document["paths"]["/readyz"]["get"]["responses"]
    assert (failing.status_code, failing.headers["Retry-After"]) == (503, "2")
    jsonschema.validate(failing.get_json(), described["503"]["content"]["application/json"]["schema"])
    alive = document["paths"]["/healthz"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(client.get("/healthz").get_json(), alive)


def test_query_parameters_are_described_as_text_that_may_be_left_out(client: FlaskClient) -> None:
    parameters = client.get("/openapi.json").get_json()["paths"]["/api/v1/campaigns"]["get"]["parameters"]
    by_name = {parameter["name"]: parameter for parameter in parameters}
    assert by_name["level"]["schema"]["enum"] == ["campaign", "ad_set", "ad"]
    assert by_name["level"]["required"] is False
    assert "null" not in json.dumps(parameters)
    assert by_name["profile_id"]["schema"] == {"type": "string", "format": "uuid"}
    assert [parameter["required"] for parameter in parameters][:2] == [True, True]


def test_a_public_address_is_the_documents_server(home: object) -> None:
    client = create_app(Settings(public_url="https://api.example.com/")).test_client()
    assert client.get("/openapi.json").get_json()["servers"] == [{"url": "https://api.example.com"}]


def test_the_description_is_compressed_once_and_not_for_each_caller(settings: Settings) -> None:
    # packing 1.3 MB took 26 ms of a worker for each request of anybody
    app = create_app(settings)
    bodies = []
    for _ in range(2):
        with app.test_request_context("/openapi.json", headers={"Accept-Encoding": "gzip"}):
            answer = app.full_dispatch_request()
        assert (answer.status_code, answer.headers["Content-Encoding"]) == (200, "gzip")
        assert "Accept-Encoding" in answer.headers["Vary"]
        bodies.append(answer.get_data())
    assert bodies[0] is bodies[1]
    assert gzip.decompress(bodies[0]) == app.test_client().get("/openapi.json").data
