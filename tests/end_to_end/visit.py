"""Somebody clicks on an ad, asks for a trip and buys, in a real browser; the next snapshot credits the campaign.

`make visit` (or `python -m tests.end_to_end.visit`) plays it on a fresh state folder and prints what became of it.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import httpx
from playwright.sync_api import Page, sync_playwright

from api import db, logs, tracking_keys
from api.app import create_app
from sandbox.ads import Ad
from sandbox.app import create_sandbox
from sandbox.storefront import landing_query, shown_ads
from sandbox.world import World, WorldHolder, build
from tests.browser.tracked import AGENT, WAITING
from tests.end_to_end.command import Deployment
from tests.end_to_end.served import all_campaigns, answer, client_of
from tests.fixtures.sandbox import served
from touchledger.accounts import create_profile, mint_key
from touchledger.settings import Settings
from touchledger.state import prepare

EMAIL = "rosa@example.com"
SCOPES = ("events:write", "campaigns:read", "customers:read")
CHROMIUM = ["--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update"]
Row = dict[str, Any]


class Site:
    """A profile of the deployment in `home`, whose ads and whose shop are the sandbox's."""

    def __init__(self, home: Path) -> None:
        self.home, self.settings = home, Settings(home=home)
        self.profile = create_profile(self.settings, name="Site", timezone="UTC", currency="USD")
        self.key = mint_key(self.settings, profile_id=self.profile, scopes=SCOPES, name="visit")
        self.world = build(7, datetime.now(UTC).date(), 30, 100)
        self.ad = shown_ads(self.world)[0]
        for dataset, text in _ad_files(self.world, self.ad.account_id).items():
            form = {"dataset": dataset, "file": (io.BytesIO(text.encode()), "ads.csv")}
            self._send("/imports", data=form, content_type="multipart/form-data")

    def visit(self, say: Callable[[str], object] = lambda _: None) -> str:
        """Walk through the shop from the ad to an order; gives what the order cost."""
        with self._shop() as address, _chromium() as page:
            say(f"A browser opens the landing page of the ad “{self.ad.name}”: {address}")
            return walk(page, address, self.ad)

    def pay(self, amount: str) -> None:
        """The processor tells of the payment, with the same e-mail address."""
        money = {"value": amount, "currency": "USD", "payment_ref": "till:1"}
        self._send("/events", json={
            "event_name": "purchase", "idempotency_key": "till:1", "timestamp": datetime.now(UTC).isoformat(),
            "user_traits": {"email": EMAIL}, "properties": money,
        })  # fmt: skip

    def campaigns(self) -> dict[str, Row]:
        """The rows of GET /campaigns of yesterday and today, by campaign."""
        rows = all_campaigns(client_of(self.home), self.key, **self._window(), level="campaign")
        return {row["platform_id"]: row for row in rows}

    def customers(self) -> list[str | None]:
        """The names of yesterday's and today's customers."""
        body = answer(client_of(self.home), self.key, "/customers", **self._window())
        return [row["name"] for row in body["data"]]

    def _window(self) -> dict[str, str]:
        today = datetime.now(UTC).date()
        return {"date_from": (today - timedelta(days=1)).isoformat(), "date_to": today.isoformat()}

    @contextmanager
    def _shop(self) -> Iterator[str]:
        """The API and the sandbox's shop, served; the shop's pages carry the tracker of a key of the profile."""
        with db.transaction(self.settings.operational_url) as session:
            key = tracking_keys.mint(session, self.profile).key
        with served(create_app(self.settings)) as api, served(create_sandbox(WorldHolder(self.world))) as sandbox:
            told = {"tracker": f"{api}/tracker.js?key={key}"}
            httpx.put(f"{sandbox}/__sandbox__/storefront", json=told, trust_env=False).raise_for_status()
            yield sandbox

    def _send(self, path: str, **options: Any) -> None:
        client = client_of(self.home)
        response = client.post(f"/api/v1{path}", headers={"Authorization": f"Bearer {self.key}"}, **options)
        assert response.status_code == 202, response.get_data(as_text=True)


def walk(page: Page, address: str, ad: Ad) -> str:
    """What somebody does in the shop after a click on the ad: ask for a trip, then buy. Gives the price."""
    page.goto(f"{address}/storefront?{landing_query(ad)}", referer="https://l.facebook.com/")
    price = page.locator("strong").inner_text().split()[0]
    page.get_by_label("First name").fill("Rosa")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_role("button", name="Ask for a place").click()
    page.get_by_role("link", name="Back to the shop").click()
    page.get_by_role("link", name="Buy").click()
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_role("button", name="Place the order").click()
    page.get_by_role("heading", name="is placed").wait_for()
    page.wait_for_function(f"{WAITING} === 0")
    return price


@contextmanager
def _chromium() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM)
        page = browser.new_context(user_agent=AGENT).new_page()
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def _ad_files(world: World, account_id: str) -> dict[str, str]:
    """The ad account as files of the inbound sets."""
    (account,) = (one for one in world.accounts if one.id == account_id)
    mine = [ad for ad in world.ads if ad.account_id == account_id]
    tables = {
        "ad_accounts": (
            ("ad_account_id", "name", "currency", "timezone", "status"),
            [(account.id, account.name, account.currency, account.time_zone, account.status)],
        ),
        "campaigns": (
            ("campaign_id", "ad_account_id", "name", "status"),
            [(one.id, one.account_id, one.name, one.status) for one in world.campaigns if one.account_id == account_id],
        ),
        "ad_sets": (
            ("ad_set_id", "campaign_id", "name", "status"),
            [(one.id, one.campaign_id, one.name, one.status) for one in world.ad_sets if one.account_id == account_id],
        ),
        "ads": (
            ("ad_id", "ad_set_id", "campaign_id", "name", "status"),
            [(one.id, one.ad_set_id, one.campaign_id, one.name, one.status) for one in mine],
        ),
    }
    return {dataset: _csv(columns, rows) for dataset, (columns, rows) in tables.items()}


def _csv(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    target = io.StringIO()
    csv.writer(target).writerows([("platform", *columns), *(("meta", *row) for row in rows)])
    return target.getvalue()


def told(row: Row | None) -> str:
    """One row of GET /campaigns as a line."""
    if row is None:
        return "no row"
    return f"{row['attributed_outcomes_by_type']}, {row['outcome_value']:.2f} USD in cash"


def main() -> None:
    """Play the visit on a fresh state folder and print the campaign's row before and after."""
    if shutil.which("chromium") is None:
        raise SystemExit("no Chromium on this machine (Debian package: chromium)")
    for name in [name for name in os.environ if name.startswith("TOUCHLEDGER_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        os.environ["TOUCHLEDGER_HOME"] = str(home)
        logs.configure("WARNING")
        click.echo("A profile with the sandbox's ads is made in an empty state folder.")
        prepare(Settings(home=home))
        site = Site(home)
        before = site.campaigns().get(site.ad.campaign_id)
        price = site.visit(click.echo)
        click.echo(f"There somebody asked for a trip and ordered for {price} USD; the processor tells of the payment.")
        site.pay(price)
        click.echo("The next snapshot is built.")
        Deployment(home).run("build", "--quiet")
        after = site.campaigns().get(site.ad.campaign_id)
        name = next(one.name for one in site.world.campaigns if one.id == site.ad.campaign_id)
        click.echo(f"\nGET /campaigns, campaign “{name}”\n  before: {told(before)}\n  after:  {told(after)}")
        if after is None or not after["attributed_outcomes_by_type"].get("lead_created"):
            raise SystemExit("the lead was not credited")


if __name__ == "__main__":
    main()
