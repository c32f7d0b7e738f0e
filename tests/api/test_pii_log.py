"""The log of reads of personal data, and that neither it nor the audit trail can be changed afterwards."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import credentials, db
from api.models import AuditEntry, PiiAccess, Profile, UserToken
from api.roles import Role
from api.scopes import Scope
from tests.factories import accounts, people, served
from touchledger.settings import Settings


def rows(url: str) -> list[PiiAccess]:
    with db.transaction(url) as session:
        return list(session.scalars(sa.select(PiiAccess)))


@pytest.mark.parametrize("statement", ["update {} set route = 'x'", "delete from {}"])
def test_the_logs_can_only_be_appended_to(database_url: str, statement: str) -> None:
    with db.transaction(database_url) as session:
        session.add(AuditEntry(actor_kind="system", action="goal.updated", outcome="done"))
        session.add(
            PiiAccess(
                workspace_id="w", profile_id="p", actor_kind="session", actor_id="u", method="GET", route="/payments",
                subject="payment", record_count=1, pii_level="masked",
            )
        )  # fmt: skip
    for table, column in (("pii_accesses", "route"), ("audit_entries", "action")):
        with (
            pytest.raises(sa.exc.DBAPIError, match=f"{table} can only be appended to"),
            db.transaction(database_url) as session,
        ):
            session.execute(sa.text(statement.format(table).replace("route", column)))
    assert [row.route for row in rows(database_url)] == ["/payments"]


def test_a_list_of_payments_is_logged_with_its_reader_and_never_its_content(
    client: FlaskClient, settings: Settings, profile: Profile
) -> None:
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    payment = {"profile_key": 1, "ts": 1, "value": "1", "refunded": "0", "currency": "USD"}
    paid = [{**payment, "payment_ref": f"bank:{n}", "payer_hint": "a***@example.com"} for n in range(3)]
    served.publish(settings.published, {"profiles": [{**facts, "settings_version": "v"}], "payments": paid})
    url = settings.operational_url
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id, Role.ADMIN)
    key = accounts.secret(url, profile, scopes=[Scope.CUSTOMERS_READ])
    token = people.token_of(url, ada, grants=["mcp:read_pii"])
    asked = {}
    for secret in (key, people.session_of(url, ada), token):
        path = f"/api/v1/payments?limit=2&profile_id={profile.id}"
        answer = client.get(path, headers={"Authorization": f"Bearer {secret}"})
        if answer.status_code == 200:
            asked[answer.headers["X-Request-Id"]] = secret
    logged = rows(url)
    assert [row.request_id for row in logged] == list(asked)
    assert {row.actor_kind for row in logged} >= {"api_key", "session"}
    shown = {"api_key": credentials.shown(key), "user_token": credentials.shown(token), "session": None}
    for row in logged:
        assert (row.workspace_id, row.profile_id) == (profile.workspace_id, profile.id)
        assert (row.method, row.route, row.subject) == ("GET", "/payments", "payment")
        assert (row.record_count, row.pii_level, row.customer_key) == (2, "masked", None)
        assert row.credential_prefix == shown[row.actor_kind]
        assert row.actor_kind == "api_key" or row.actor_id == ada.id
    with db.transaction(url) as session:
        assert session.scalars(sa.select(UserToken)).one().user_id == ada.id


def test_a_refused_read_is_not_logged(client: FlaskClient, settings: Settings, profile: Profile) -> None:
    secret = accounts.secret(settings.operational_url, profile)
    answer = client.get("/api/v1/payments", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 403
    assert rows(settings.operational_url) == []
