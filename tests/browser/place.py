"""A deployment with people who sign in with a browser, and a program on their machine that waits for an answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page
from werkzeug.serving import make_server

from api import db, passwords
from api.models import User
from tests.api.oauth.walk import Walker
from tests.factories import accounts, people
from tests.factories.deployments import application, migrate
from touchledger.settings import Settings

PASSWORD = "a long enough sentence"
EMAIL = "a.person.with.a.very.long.address.indeed@a-rather-long-domain-name.example.com"


class Callback(BaseHTTPRequestHandler):
    """What a program on the person's machine listens with."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>back</title><p>Back in the program.</p>")

    def log_message(self, *_: object) -> None:
        """Quiet."""


@dataclass(frozen=True)
class Place:
    """A deployment with one person, and a program that listens on this machine."""

    address: str
    settings: Settings
    back: str

    def register(self, name: str = "Campaign assistant") -> str:
        """The id of a new agent."""
        walker = Walker(application(self.settings).test_client(), redirect_uri=self.back)
        return str(walker.register(client_name=name).get_json()["client_id"])

    def asking(self, client_id: str, **changed: str) -> str:
        """Where the agent sends the person."""
        asked = Walker(application(self.settings).test_client(), client_id, self.back).asking(**changed)
        return f"{self.address}/oauth/authorize?{urlencode(asked)}"


@contextmanager
def served(home: Path) -> Iterator[Place]:
    """A deployment in this folder, with one owner of two profiles."""
    settings = Settings(home=home, plan_limits="off", smtp_host="127.0.0.1")
    url = settings.operational_url
    migrate(settings)
    ada = people.user(url, email=EMAIL)
    with db.transaction(url) as session:
        session.get_one(User, ada.id).password_hash = passwords.hashed(PASSWORD)
    for name in ("Bakery", "A shop with a name that goes on and on and on until nobody reads it any more"):
        people.member(url, ada, accounts.profile(url, name=name).workspace_id)
    server = make_server("127.0.0.1", 0, application(settings), threaded=True)
    listening = HTTPServer(("127.0.0.1", 0), Callback)
    often = {"poll_interval": 0.05}
    threads = [threading.Thread(target=one.serve_forever, kwargs=often) for one in (server, listening)]
    for thread in threads:
        thread.start()
    yield Place(f"http://127.0.0.1:{server.server_port}", settings, f"http://127.0.0.1:{listening.server_port}/back")
    for one in (server, listening):
        one.shutdown()
    for thread in threads:
        thread.join()
    server.server_close()
    listening.server_close()


def sign_in(page: Page, email: str = EMAIL) -> None:
    """Fill in the form."""
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def overflow(page: Page) -> int:
    """How many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))
