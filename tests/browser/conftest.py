"""A real browser (Debian's Chromium) on pages that the real app serves on loopback."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from werkzeug.serving import make_server

from tests.browser.place import Place
from tests.browser.place import served as serve_people
from tests.browser.tracked import AGENT, Shop
from tests.browser.tracked import served as serve_shop
from tests.factories import served
from tests.factories.deployments import application, migrate
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "campaigns"
QUIET = ["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update"]
# what is waited for comes or never does; five seconds, which is usual, would tell how busy the machine is
expect.set_options(timeout=60_000)


# Not for the whole session: while it is open, the driver's event loop counts as running in this thread, and Dagster,
# which runs loops of its own, fails in every later test of the same worker.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, or a skip that says what to install."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no Chromium on this machine (Debian package: chromium)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a small deployment answers."""
    settings = Settings(home=tmp_path_factory.mktemp("pages"))
    migrate(settings)
    served.publish(settings.published, served.from_csv(GOLDEN))
    server = make_server("127.0.0.1", 0, application(settings), threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A deployment that people sign in to."""
    with serve_people(tmp_path_factory.mktemp("people")) as place:
        yield place


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page on a phone, which must not complain."""
    context = browser.new_context(viewport={"width": 390, "height": 800})
    context.set_default_timeout(60_000)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    # a refused sign-in is an error to the browser, and is meant
    assert [one for one in complaints if "status of 4" not in one] == []


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose pages carry the tracker; tests take `shop`."""
    with serve_shop(tmp_path_factory.mktemp("tracked")) as shop:
        yield shop


@pytest.fixture
def shop(shops: Shop) -> Shop:
    """The shop, of which nothing was told yet."""
    shops.begin()
    shops.change(privacy_mode="standard")
    return shops


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of somebody who was never here; its pages throw nothing."""
    context = browser.new_context(user_agent=AGENT)
    context.set_default_timeout(60_000)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context
    context.close()
    assert errors == []
