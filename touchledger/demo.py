"""The demo: a workspace, a profile with connections to the sandbox, a key, and what a shop sends by itself."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path

import httpx
from sqlalchemy.orm import Session

from api import tracking_keys
from api.credentials import digest, is_well_formed, mint_api_key
from api.db import now, transaction
from api.models import ApiKey, Connection, Profile, Workspace
from api.scopes import DEFAULT_SCOPES
from api.v1.events.ingest import accept
from sandbox import shop
from sandbox.shop_records import DEALS, events, files, mark
from sandbox.world import World, build
from touchledger.demo_person import ensure_person
from touchledger.settings import Settings

DEMO_WORKSPACE_ID = "01900000-0000-7000-8000-000000000d00"
DEMO_PROFILE_ID = "01900000-0000-7000-8000-000000000d01"
MADE = "demo.json"


class OtherDemoError(Exception):
    """The folder holds a demo of another world, or one that was deleted: neither can be made into this one."""


class DemoAheadError(Exception):
    """The demo's world goes on after the machine's today: its door takes nothing that has not happened."""


@dataclass(frozen=True)
class Demo:
    """The demo's profile, the key that opens it, and the one that its shop's pages show."""

    profile_id: str
    api_key: str
    tracking_key: str

    def __repr__(self) -> str:
        return f"<Demo {self.profile_id}>"


def ensure_demo(settings: Settings, world: World | None = None) -> Demo:
    """Make the demo in a migrated database, or find it made; a second call changes nothing and has the same key.

    `world` is what `require_own` gave, where that was asked. Raises OtherDemoError as that does and when the folder's
    demo was deleted, DemoAheadError when its world is to be made and goes on after today (UTC).
    """
    made = settings.home / MADE
    is_made = made.exists()
    world = world or require_own(settings)
    if not is_made and settings.demo_today > now().date():
        raise DemoAheadError(
            f"TOUCHLEDGER_DEMO_TODAY: {settings.demo_today} has not come yet, by the clock of this machine it is "
            f"{now().date()} (UTC); set the clock, or name a day that has come"
        )
    with transaction(settings.operational_url) as session:
        found = session.get(Profile, DEMO_PROFILE_ID)
        if found is not None and found.archived_at is not None:
            raise OtherDemoError(
                f"the demo of {settings.home} was deleted; name another folder in TOUCHLEDGER_HOME, "
                "or start `touchledger serve --pipeline` for what else the folder holds"
            )
        is_new = found is None
        if is_new:
            _create(session)
        ensure_person(session, settings.home, DEMO_WORKSPACE_ID)
        _connect(session, settings)
        key = _key(session, settings.home / "demo.key")
        site = tracking_keys.oldest(session, DEMO_PROFILE_ID) or tracking_keys.mint(session, DEMO_PROFILE_ID)
        if is_new or not is_made:
            _send(session, settings, world)
    _write(made, json.dumps(_asked(settings) | {"world": mark(world)}, indent=1).encode())
    return Demo(DEMO_PROFILE_ID, key, site.key)


def put_tracker_on_shop(settings: Settings, demo: Demo) -> None:
    """Let the pages of the sandbox's shop carry the demo's tracker. Raises httpx.HTTPError where no sandbox answers."""
    told = {"tracker": f"{settings.base_url}/tracker.js?key={demo.tracking_key}"}
    httpx.put(f"{settings.sandbox_url}/__sandbox__/storefront", json=told, trust_env=False).raise_for_status()


def _asked(settings: Settings) -> dict[str, str]:
    names = ("demo_seed", "demo_today", "demo_days", "demo_people")
    return {name: str(getattr(settings, name)) for name in names}


def require_own(settings: Settings) -> World:
    """The demo's world. Only looks.

    Raises OtherDemoError where the folder's demo was made with other `demo_*` settings, or by a version whose world is
    another.
    """
    world = build(settings.demo_seed, settings.demo_today, settings.demo_days, settings.demo_people)
    if not (settings.home / MADE).exists():
        return world
    made = json.loads((settings.home / MADE).read_text())
    way_out = "name another folder in TOUCHLEDGER_HOME or remove this one"
    if any(made.get(name) != value for name, value in _asked(settings).items()):
        raise OtherDemoError(f"{settings.home} holds a demo made with other TOUCHLEDGER_DEMO_* settings; {way_out}")
    # one that was made before worlds were marked is told by what its shop exported
    if not (made["world"] == mark(world) if "world" in made else _exported(settings, world)):
        raise OtherDemoError(
            f"{settings.home} holds the demo of another version, whose shop sold other things; its figures would be "
            f"of both: {way_out}"
        )
    return world


def _exported(settings: Settings, world: World) -> bool:
    kept = settings.inbox / DEMO_PROFILE_ID / DEALS
    # the same rows are packed into other bytes by another machine
    return not kept.exists() or gzip.decompress(kept.read_bytes()) == gzip.decompress(files(world)[DEALS])


def _create(session: Session) -> None:
    session.add(Workspace(id=DEMO_WORKSPACE_ID, name="Touchledger demo", timezone=shop.TIME_ZONE))
    session.flush()
    session.add(
        Profile(
            id=DEMO_PROFILE_ID,
            workspace_id=DEMO_WORKSPACE_ID,
            name=shop.NAME,
            timezone=shop.TIME_ZONE,
            reporting_currency=shop.CURRENCY,
            is_demo=True,
            own_domains=list(shop.OWN_DOMAINS),
            payment_hosts=list(shop.PAYMENT_HOSTS),
        )
    )
    session.flush()


def _connect(session: Session, settings: Settings) -> None:
    """Four connections with fixed ids, pointed at wherever the sandbox listens now."""
    for index, account in enumerate(shop.accounts()):
        number = f"{DEMO_PROFILE_ID[:-2]}1{index}"
        connection = session.get(Connection, number) or Connection(
            id=number, profile_id=DEMO_PROFILE_ID, is_sandbox=True, **account
        )
        connection.base_url = f"{settings.sandbox_url}/{account['provider']}"
        session.add(connection)


def _key(session: Session, path: Path) -> str:
    """The key of the file, known to the database, or a new one written there (mode 0600)."""
    kept = path.read_text().strip() if path.exists() else ""
    secret = kept if is_well_formed(kept, "tl_live") else None
    if secret is not None and session.query(ApiKey).filter_by(digest=digest(secret), revoked_at=None).first():
        return secret
    _, minted = mint_api_key(session, profile_id=DEMO_PROFILE_ID, scopes=DEFAULT_SCOPES, name="Demo", secret=secret)
    _write(path, minted.encode(), mode=0o600)
    return minted


def _send(session: Session, settings: Settings, world: World) -> None:
    for dataset, records in events(world).items():
        outcome = accept(session, profile_id=DEMO_PROFILE_ID, dataset=dataset, records=records)
        if outcome.rejected or outcome.conflicts:
            raise ValueError(f"the demo's own {dataset} were refused: {(outcome.rejected or outcome.conflicts)[:3]}")
    for name, content in files(world).items():
        folder = settings.inbox if name.startswith("_shared/") else settings.inbox / DEMO_PROFILE_ID
        _write(folder / name, content)


def _write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file whole or not at all; one with the same bytes stays as it is."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.touch(mode=mode)
    temporary.write_bytes(content)
    temporary.replace(path)
