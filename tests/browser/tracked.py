"""A shop whose pages carry the tracker, and a collector on another origin that keeps what it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flask.testing import FlaskClient
from playwright.sync_api import BrowserContext, Page

from api import db, tracking_keys
from api.models import Profile
from tests.factories import accounts
from tests.factories.deployments import application, migrate
from touchledger.settings import Settings

PATIENCE = 60
# how many events the page's collector has not confirmed
WAITING = "Object.keys(localStorage).filter((name) => name.includes('waiting')).length"
# a collector takes Chromium without a window for an automated visitor, which it is
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

AD = "utm_source=meta&utm_medium=paid&utm_campaign=autumn&ad_platform=meta&campaign_id=c1&ad_set_id=s1&ad_id=a1"

REFUSAL = b'{"error": {"message": "currency: must be a code."}}'

CALLS = [["track", "menu_opened", {}]]

PAGE = """<!doctype html><title>Shop</title><link rel="icon" href="data:,">
<script>window.touchledger = {calls};</script>
<script async src="{source}" {attributes}></script>
<form id="trip" action="/thanks" data-touchledger-event="lead_submitted">
  <input name="first_name" value="Ann"><input type="email" name="address" value=" ann@example.com ">
  <input type="tel" name="t" value="+14155550100"><input name="note" value="secret note">
  <input type="hidden" name="email" value="hidden@example.com"><button>Ask</button></form>
<form id="news" action="/thanks"><input autocomplete="shipping email" name="n" value="bo@example.com">
  <button>Subscribe</button></form>
<form id="login" action="/thanks"><input type="email" name="email" value="cy@example.com">
  <input type="password" name="password" value="hunter2hunter2"><button>Sign in</button></form>
<form id="quiet" action="/thanks" data-touchledger="ignore"><input type="email" name="e" value="di@example.com">
  <button>Whisper</button></form>"""


@dataclass
class Shop:
    """Both servers. `answers` are the statuses that the collector answers next, then 202.

    `calls` are what its pages call before the tracker is there.

    `told` holds path and body of what was taken, the same once; `asked` event id and status of everything.
    """

    address: str = ""
    collector: str = ""
    client: FlaskClient | None = None
    settings: Settings | None = None
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)
    attributes: str = ""
    calls: list[Any] = field(default_factory=list)
    key: str = ""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, path: str, body: bytes) -> int:
        """Keep what came, if it is taken."""
        with self.changed:
            status = self.answers.pop(0) if self.answers else 202
            given = json.loads(body)
            self.asked.append((given.get("eventId", ""), status))
            # what the page could not see confirmed before it was left comes again, and is the same
            if status == 202 and (path, given) not in self.told:
                self.told.append((path, given))
            self.changed.notify_all()
            return status

    def heard(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        """What was told under an event's name or a path, once there are `count` of it; fails when they do not come."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.of(name)) >= count, PATIENCE), (name, self.told)
            return self.of(name)

    def of(self, name: str) -> list[dict[str, Any]]:
        """What was told under an event's name or a path until now."""
        return [body for path, body in self.told if name in (body.get("eventName"), path.rpartition("/")[2])]

    def begin(self, *answers: int, attributes: str = "", calls: list[Any] = CALLS) -> None:
        """Forget what was told, and answer so from now on."""
        with self.changed:
            self.told, self.asked, self.answers = [], [], list(answers)
            self.attributes, self.calls = attributes, calls

    def await_asked(self, count: int) -> None:
        """Return once the collector was asked so often."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.asked) >= count, PATIENCE), self.asked

    def change(self, **columns: Any) -> None:
        """Change the profile."""
        assert self.settings
        with db.transaction(self.settings.operational_url) as session:
            for name, value in columns.items():
                setattr(session.query(Profile).one(), name, value)


def opened(visitor: BrowserContext, address: str, **options: Any) -> Page:
    """A page of the shop, once its tracker is there."""
    page = visitor.new_page()
    page.goto(address, **options)
    page.wait_for_function("!!window.touchledger.track")
    return page


def _collector(shop: Shop) -> type[BaseHTTPRequestHandler]:
    class Collector(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert shop.client
            answer = shop.client.get(self.path)
            self.answer(answer.status_code, answer.data, answer.headers["Content-Type"])

        def do_OPTIONS(self) -> None:
            assert shop.client
            self.send_response(204)
            for name, value in shop.client.options(self.path).headers.items():
                if name.startswith("Access-Control"):
                    self.send_header(name, value)
            self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = shop.take(urlsplit(self.path).path, body)
            self.answer(status, b"{}" if status < 400 else REFUSAL, "application/json")

        def answer(self, status: int, body: bytes, mimetype: str) -> None:
            self.send_response(status)
            headers = {"Content-Type": mimetype, "Content-Length": str(len(body)), "Access-Control-Allow-Origin": "*"}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Collector


def _pages(shop: Shop) -> type[BaseHTTPRequestHandler]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            source = f"{shop.collector}/tracker.js?key={shop.key}"
            body = PAGE.format(source=source, attributes=shop.attributes, calls=json.dumps(shop.calls)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Pages


@contextmanager
def served(home: Path) -> Iterator[Shop]:
    """A shop with a tracking key of a profile in this folder."""
    settings = Settings(home=home)
    migrate(settings)
    shop = Shop(client=application(settings).test_client(), settings=settings)
    profile = accounts.profile(settings.operational_url)
    with db.transaction(settings.operational_url) as session:
        shop.key = tracking_keys.mint(session, profile.id).key
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), made(shop)) for made in (_pages, _collector)]
    shop.address, shop.collector = (f"http://localhost:{one.server_port}" for one in servers)
    threads = [threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.05}) for one in servers]
    for thread in threads:
        thread.start()
    yield shop
    for server in servers:
        server.shutdown()
    for thread in threads:
        thread.join()
    for server in servers:
        server.server_close()
