"""A copy of a demo with all that the demo alone has not: mail, a name server, a payment processor, hooks' secrets."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import sqlalchemy as sa
from pydantic import SecretStr

from api import db
from api.app import create_app
from api.models import Connection, Workspace
from sandbox.app import create_sandbox
from sandbox.faces import TOKENS
from sandbox.shopify import Bucket
from sandbox.world import WorldHolder, build
from tests.factories import billing
from tests.factories.mailbox import Mailbox, mail_server
from tests.factories.nameserver import Zone, name_server
from tests.factories.receivers import PUBLIC, Receiver, names, receiving
from tests.fixtures.sandbox import RunningSandbox, served
from tests.recording.canonical import Canonical
from tests.recording.recorder import Recorder
from touchledger.demo import DEMO_WORKSPACE_ID, ensure_demo
from touchledger.settings import Settings

STORE_SECRET, CHAT_SECRET, CHAT_WORD = "shpss_of_the_recorded_examples", "of-the-recorded-examples", "alder-and-finch"
# for what a hook takes
TOO_LARGE = b" " * 4_194_305
HOOK_HOST = "hooks.example.com"


@dataclass(frozen=True)
class Place:
    """Where the walk goes, and what stands around it."""

    recorder: Recorder
    settings: Settings
    sandbox: RunningSandbox
    mailbox: Mailbox
    zone: Zone
    receiver: Receiver

    @property
    def url(self) -> str:
        return self.settings.operational_url


@contextmanager
def placed(demo: Settings, home: Path) -> Iterator[Place]:
    """Copy the demo's folder to `home` and serve the copy, until the block ends."""
    shutil.copytree(demo.home, home)
    world = WorldHolder(build(demo.demo_seed, demo.demo_today, demo.demo_days, demo.demo_people))
    app = create_sandbox(world, Bucket(maximum=1e9))
    with served(app) as url, mail_server() as mailbox, name_server() as zone, receiving() as receiver:
        sandbox = RunningSandbox(url, world, app)
        changed = {
            "home": home, "sandbox_port": urlsplit(url).port, "dns_resolver": zone.address, "smtp_host": "127.0.0.1",
            "smtp_port": mailbox.port, "smtp_starttls": "off", "store_secret": SecretStr(STORE_SECRET),
            "meta_app_secret": SecretStr(CHAT_SECRET), "chat_verify_token": SecretStr(CHAT_WORD),
            "secret_key": SecretStr("of the recorded examples"),
            "link_token_secret": SecretStr("of the recorded examples"), "billing_storefront_app": "touchledger",
        }  # fmt: skip
        settings = billing.selling(demo.model_copy(update=changed), sandbox)
        ensure_demo(settings)
        with db.transaction(settings.operational_url) as session:
            began = session.get_one(Workspace, DEMO_WORKSPACE_ID).created_at
            # sealed with the key of the process that made the demo
            for connection in session.scalars(sa.select(Connection)):
                connection.token = TOKENS[connection.provider]
        client = create_app(settings).test_client()
        with patch.object(socket, "getaddrinfo", names({HOOK_HOST: [PUBLIC], "localhost": ["127.0.0.1"]})):
            recorder = Recorder(client, settings, Canonical(began - timedelta(hours=1)))
            yield Place(recorder, settings, sandbox, mailbox, zone, receiver)
