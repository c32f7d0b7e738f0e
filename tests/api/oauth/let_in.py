"""A workspace with an agent and an app that its owner lets in, on either database, for what happens at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from api import db
from api import sign_in as sign_in_
from api.models import ApiKey, App, Delegation, OAuthAuthorization, OAuthCode, Profile, User, UserToken
from api.v1.credentials import people as persons
from tests.api.oauth.walk import Walker, query_of, sign_in
from tests.api.v1.members.conftest import asker
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of

BACK = "https://app.example/back"
ASKED = {"code_challenge": None, "code_challenge_method": None, "scope": "analytics connections"}


@dataclass
class World:
    """A profile, its owner, an agent and an app that the owner lets in; every call has a client of its own."""

    flask: Flask
    url: str
    profile: Profile
    owner: User
    session: str
    agent: Walker
    app: Walker
    app_id: str

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> TestResponse:
        return asker(self.flask.test_client())(method, path, token or self.session, body)

    @property
    def place(self) -> str:
        return f"/workspaces/{self.profile.workspace_id}"

    def app_code(self) -> str:
        return query_of(self.app.decide(asked=ASKED, profile_id=self.profile.id))["code"]

    def app_exchange(self, code: str) -> TestResponse:
        return self.apart(self.app).exchange(code, client_id=None, code_verifier=None)

    def apart(self, walker: Walker) -> Walker:
        return replace(walker, browser=self.flask.test_client())

    def one(self, column: Any, *where: Any) -> Any:
        with db.transaction(self.url) as session:
            return session.scalars(sa.select(column).where(*where).order_by(column.class_.created_at)).first()

    def disconnect(self, kind: str | None = None) -> TestResponse:
        of = [OAuthAuthorization.kind == kind] if kind else []
        held = self.one(OAuthAuthorization.id, OAuthAuthorization.status == "granted", *of)
        return self.ask("DELETE", f"{self.place}/connected-apps/{held}")

    def suspend(self) -> TestResponse:
        return self.ask("PATCH", f"{self.place}/oauth-apps/{self.app_id}", {"status": "suspended"})

    def archive(self) -> TestResponse:
        with db.transaction(self.url) as session:
            name = session.scalar(sa.text("select name from workspaces"))
        return self.ask("DELETE", self.place, {"confirm_name": name})

    def reset(self) -> None:
        """Somebody proves that the address, which nobody had proved before, is theirs."""
        with db.transaction(self.url) as session:
            session.execute(sa.update(User).values(email_verified_at=None))
        with db.transaction(self.url) as session:
            persons.reset_password(session, user_id=self.owner.id, password_hash="x")
            sign_in_.end_sessions(session, user_id=self.owner.id)

    def living(self) -> list[str]:
        """What still opens something."""
        with db.transaction(self.url) as session:
            return [
                f"{kind.__tablename__} {one}"
                for kind in (UserToken, ApiKey)
                for one in session.scalars(sa.select(kind.id).where(kind.revoked_at.is_(None)))
            ]

    def stray(self) -> list[str]:
        """What still opens something though the consent it was given under has ended."""
        ended = sa.select(OAuthAuthorization.id).where(OAuthAuthorization.status == "revoked")
        issued = sa.select(OAuthCode.api_key_id).where(OAuthCode.authorization_id.in_(ended))
        lineages = sa.select(ApiKey.lineage_id).where(ApiKey.id.in_(issued))
        tokens = sa.select(UserToken.id).where(UserToken.family_id.in_(ended), UserToken.revoked_at.is_(None))
        keys = sa.select(ApiKey.id).where(ApiKey.lineage_id.in_(lineages), ApiKey.revoked_at.is_(None))
        let_in = sa.exists().where(
            OAuthAuthorization.app_id == Delegation.app_id, OAuthAuthorization.status == "granted"
        )
        # of an archived profile nobody reaches anything
        live = sa.exists().where(Profile.id == Delegation.profile_id, Profile.archived_at.is_(None))
        adopted = sa.select(Delegation.id).where(Delegation.kind == "adopted", live, ~let_in)
        with db.transaction(self.url) as session:
            return [*session.scalars(tokens), *session.scalars(keys), *session.scalars(adopted)]


def made(home: Path, database_url: str) -> World:
    """A new one."""
    flask = application(settings_of(home, database_url))
    profile, owner = accounts.profile(database_url), people.user(database_url)
    people.member(database_url, owner, profile.workspace_id)
    made = people.app(database_url, workspace_id=profile.workspace_id, connect_scopes=["analytics", "connections"])
    with db.transaction(database_url) as session:
        session.get_one(App, made.app.id).redirect_uris = [BACK]
    session_token, browser = people.session_of(database_url, owner), flask.test_client()
    sign_in(browser, session_token)
    agent = Walker(browser)
    agent.register()
    app = Walker(browser, made.app.client_id or "", BACK, auth={"Authorization": made.header})
    return World(flask, database_url, profile, owner, session_token, agent, app, made.app.id)
