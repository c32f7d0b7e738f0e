"""DELETE of a workspace with many profiles and a million operational rows, through HTTP.

`python -m benchmarks.archive` fills a database (SQLite in a temporary folder, or `--database-url`) with one workspace
of 200 profiles and a million rows and a second one, archives the first, checks the counts, that its keys, routes and
profiles are refused from then on and the second is untouched, and prints the seconds.
"""

from __future__ import annotations

import logging
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
import structlog
from flask.testing import FlaskClient
from pydantic import SecretStr
from rich.console import Console

from api import credentials, db
from api.app import create_app
from api.migrate import upgrade
from api.models import AuditEntry, Event, IngestedRecord, Membership, Profile, User, UserSession, Workspace
from api.roles import Role
from touchledger.accounts import mint_key
from touchledger.settings import Settings

EVENTS_SHARE = 10
CHUNK = 20_000
OTHERS = 1_000


@click.command(help=__doc__)
@click.option("--profiles", default=200, show_default=True)
@click.option("--rows", default=1_000_000, show_default=True)
@click.option("--database-url", help="An empty Postgres database instead of SQLite.")
def main(profiles: int, rows: int, database_url: str | None) -> None:
    console = Console()
    # hundreds of refusals are asked for: a line each would bury the figure
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="touchledger-archive-") as folder:
        settings = Settings(home=Path(folder), database_url=SecretStr(database_url) if database_url else None)
        upgrade(settings.operational_url)
        owner = _person(settings.operational_url)
        ours = _workspace(settings.operational_url, owner, profiles)
        others = _workspace(settings.operational_url, owner, 1)
        keys = [mint_key(settings, profile_id=one, scopes=(), name="k") for one in ours[1]]
        for ids, count in ((ours[1], rows), (others[1], OTHERS)):
            _fill(settings.operational_url, ids, count)
        seconds, answer = _archive(settings, owner, ours[0])
        _check(settings, owner, ours, others, keys, answer)
    engine = "Postgres" if database_url else "SQLite"
    console.print(f"{engine}, {platform.machine()}, Python {platform.python_version()}")
    console.print(f"{profiles} profiles, {rows:,} rows: archived in {seconds:.1f} s; counts {answer['counts']}")


def _person(url: str) -> tuple[str, str]:
    """A new person's id and the token of their session."""
    token = credentials.mint("tl_sess")
    with db.transaction(url) as session:
        user = User(email=f"{db.new_id()}@example.com", email_verified_at=db.now())
        session.add(user)
        session.flush()
        ends = db.now() + timedelta(days=1)
        session.add(UserSession(user_id=user.id, digest=credentials.digest(token), expires_at=ends))
        return user.id, token


def _workspace(url: str, owner: tuple[str, str], profiles: int) -> tuple[str, list[str]]:
    with db.transaction(url) as session:
        workspace = Workspace(name="Agency", plan="enterprise")
        session.add(workspace)
        session.flush()
        session.add(Membership(workspace_id=workspace.id, user_id=owner[0], role=Role.OWNER.word))
        made = [
            Profile(workspace_id=workspace.id, name=f"Profile {n}", timezone="UTC", reporting_currency="USD")
            for n in range(profiles)
        ]
        session.add_all(made)
        session.flush()
        session.add_all(
            AuditEntry(workspace_id=workspace.id, actor_kind="system", action="profile.created", outcome="done")
            for _ in made
        )
        return workspace.id, [one.id for one in made]


def _fill(url: str, profile_ids: Sequence[str], count: int) -> None:
    events = count // EVENTS_SHARE
    _insert(url, IngestedRecord, (_record(profile_ids, n) for n in range(count - events)))
    _insert(url, Event, (_event(profile_ids, n) for n in range(events)))


def _record(profile_ids: Sequence[str], n: int) -> dict[str, Any]:
    sent = {"touch_key": f"t{n}", "occurred_at": "2026-03-01T00:00:00Z", "utm_source": "meta", "utm_campaign": f"c{n}"}
    keys = {"profile_id": profile_ids[n % len(profile_ids)], "dataset": "touches", "record_key": f"t{n}"}
    return {**keys, "fingerprint": f"{n:064x}", "record": sent}


def _event(profile_ids: Sequence[str], n: int) -> dict[str, Any]:
    profile_id = profile_ids[n % len(profile_ids)]
    return {"id": db.new_id(), "profile_id": profile_id, "fingerprint": f"{n:064x}", "conversion_type": "lead_created"}


def _insert(url: str, model: type[Any], rows: Iterator[dict[str, Any]]) -> None:
    while chunk := list(islice(rows, CHUNK)):
        with db.transaction(url, durable=False) as session:
            session.execute(sa.insert(model), chunk)


def _archive(settings: Settings, owner: tuple[str, str], workspace_id: str) -> tuple[float, dict[str, Any]]:
    client, begun = create_app(settings).test_client(), time.perf_counter()
    answer = client.delete(f"/api/v1/workspaces/{workspace_id}", headers={"Authorization": f"Bearer {owner[1]}"})
    seconds = time.perf_counter() - begun
    if answer.status_code != 200:
        raise click.ClickException(answer.text)
    return seconds, answer.get_json()["data"]


def _check(
    settings: Settings,
    owner: tuple[str, str],
    ours: tuple[str, list[str]],
    others: tuple[str, list[str]],
    keys: Sequence[str],
    answer: dict[str, Any],
) -> None:
    count, url = len(ours[1]), settings.operational_url
    expected = {"profiles_archived": count, "memberships_removed": 1, "api_keys_revoked": count}
    wrong = {name: answer["counts"][name] for name, value in expected.items() if answer["counts"][name] != value}
    left = {model.__tablename__: _count(url, model, model.profile_id.in_(ours[1])) for model in (IngestedRecord, Event)}
    kept = sum(_count(url, model, model.profile_id.in_(others[1])) for model in (IngestedRecord, Event))
    trail = _count(url, AuditEntry, AuditEntry.workspace_id == ours[0])
    if wrong or any(left.values()) or kept != OTHERS or trail != count + 1 or answer["profiles_purged"] != count:
        raise click.ClickException(f"wrong {wrong}, left {left}, kept {kept}, trail {trail}")
    _check_refusals(create_app(settings).test_client(), owner[1], ours, keys)


def _check_refusals(client: FlaskClient, session: str, ours: tuple[str, list[str]], keys: Sequence[str]) -> None:
    def status(path: str, token: str) -> int:
        return client.get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"}).status_code

    refused = [status(f"/workspaces/{ours[0]}/{part}", session) for part in ("profiles", "audit", "pacing")]
    refused += [status(f"/campaigns?profile_id={one}", session) for one in ours[1][:100]]
    if set(refused) != {404} or {status("/campaigns", key) for key in keys} != {401}:
        raise click.ClickException(f"something of the archived workspace still answers: {sorted(set(refused))}")


def _count(url: str, model: type[Any], *where: Any) -> int:
    with db.transaction(url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(model).where(*where)) or 0


if __name__ == "__main__":
    main()
