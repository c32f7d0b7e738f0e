"""The demo's campaigns as the API answers them, and how to ask it again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import click
from rich.table import Table
from rich.text import Text

from touchledger.demo import Demo
from touchledger.demo_person import EMAIL, NAME
from touchledger.settings import Settings

DAYS = 28


@dataclass(frozen=True)
class Figures:
    """What GET `path` answered: `rows` of campaigns. The key is shown to the person who runs the demo, nowhere else."""

    path: str
    rows: list[dict[str, Any]]
    currency: str
    key: str

    @property
    def bare(self) -> str:
        """Tab-separated name, spend, value and ROAS, a line per campaign."""
        return "\n".join("\t".join(str(value) for value in _cells(row)) for row in self.rows)

    @property
    def data(self) -> dict[str, Any]:
        return {"path": self.path, "key": self.key, "currency": self.currency, "campaigns": self.rows}


def figures(settings: Settings, demo: Demo) -> Figures:
    """Ask our own API, in this process, for the last four weeks of the demo."""
    from api.app import create_app

    last = settings.demo_today
    window = {"date_from": (last - timedelta(days=DAYS - 1)).isoformat(), "date_to": last.isoformat()}
    path = "/api/v1/campaigns?" + urlencode({**window, "level": "campaign", "limit": 20})
    client = create_app(settings).test_client()
    answer = client.get(path, headers={"Authorization": f"Bearer {demo.api_key}"})
    body = answer.get_json()
    if answer.status_code != 200:
        raise click.ClickException(f"the API answered {answer.status_code}: {body}")
    return Figures(path, body["data"], body["meta"].get("currency", ""), demo.api_key)


def _cells(row: dict[str, Any]) -> tuple[str, Any, Any, Any]:
    return row["campaign_name"], row["spend"], row["outcome_value"], row["roas"]


def table_of(found: Figures) -> Table:
    """The campaigns as a table."""
    table = Table(title=f"Last {DAYS} days of the demo, last touch, {found.currency}", title_justify="left", box=None)
    table.add_column("campaign")
    for heading in ("spend", "value", "ROAS"):
        table.add_column(heading, justify="right")
    for row in found.rows:
        name, *numbers = _cells(row)
        table.add_row(Text(name), *("-" if number is None else f"{number:,.2f}" for number in numbers))
    return table


def addresses(found: Figures, settings: Settings) -> str:
    """Where a deployment that is being served answers, and a ready request."""
    base = settings.base_url
    return f"""
API        {base}/api/v1
Reference  {base}/docs
Errors     {base}/docs/errors
Data docs  {base}/docs/data
Shop       {settings.sandbox_url}/storefront
Dagster    http://127.0.0.1:{settings.dagster_port}
API key    {found.key}
Sign in    {base}/sign-in as {EMAIL}, password in {settings.home / NAME}

curl -H 'Authorization: Bearer {found.key}' '{base}{found.path}'

Ctrl-C ends everything."""
