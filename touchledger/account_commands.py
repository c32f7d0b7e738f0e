"""Commands about who is served: profiles, workspaces, keys."""

from __future__ import annotations

from typing import Any

import click
from rich.markup import escape

from touchledger.output import Output, speaking, spelt
from touchledger.prepared import prepared
from touchledger.tables import table

# libraries that take seconds to import are imported by the commands that need them


@click.group()
def profile() -> None:
    """Advertised businesses, each with its own figures."""


@profile.command("create")
@click.option("--name", required=True, help="Name shown to people.")
@click.option("--timezone", required=True, help="IANA time zone whose days the figures are counted in.")
@click.option("--currency", required=True, help="ISO 4217 code that money is reported in.")
@speaking
def create_profile(output: Output, name: str, timezone: str, currency: str) -> None:
    """Create a profile and print its id."""
    from touchledger.accounts import create_profile as create

    profile_id = create(prepared(), name=name, timezone=timezone, currency=currency.upper())
    shown = f"Profile {escape(spelt(name))} was created: [bold]{profile_id}[/]"
    output.result(profile_id, {"profile_id": profile_id}, shown)


@profile.command("list")
@speaking
def list_profiles(output: Output) -> None:
    """List profiles with their ids."""
    from touchledger.account_lists import profiles

    _listed(output, "profiles", profiles(prepared()))


@click.group()
def workspace() -> None:
    """Workspaces: the containers of profiles, with a plan each."""


@workspace.command("list")
@speaking
def list_workspaces(output: Output) -> None:
    """List workspaces with their ids, plans and how many are in them."""
    from touchledger.account_lists import workspaces

    _listed(output, "workspaces", workspaces(prepared()))


@workspace.command("invite")
@click.argument("address", metavar="EMAIL")
@click.option(
    "--role", type=click.Choice(["owner", "admin", "editor", "viewer"]), required=True, help="What they become."
)
@click.option(
    "--workspace", "workspace_id", help="Id of a workspace; default: that of the profiles that commands made."
)
@speaking
def invite_person(output: Output, address: str, role: str, workspace_id: str | None) -> None:
    """Invite EMAIL to a workspace, and print the link to hand over: no mail is sent."""
    from touchledger.inviting import invite

    made = invite(prepared(), address=address, role=role, workspace_id=workspace_id)
    until = f"{made['expires_at']:%Y-%m-%d %H:%M} UTC"
    shown = f"{escape(made['email'])} may become {made['role']} of {escape(spelt(made['workspace']))} until {until}:"
    output.result(made["accept_url"], made, shown, f"[bold]{made['accept_url']}[/]")


@workspace.command("plan")
@click.argument("workspace_id", metavar="WORKSPACE")
@click.argument("plan", type=click.Choice(["starter", "growth", "agency", "enterprise"]))
@speaking
def set_plan(output: Output, workspace_id: str, plan: str) -> None:
    """Give WORKSPACE (its id) a PLAN without payment; starter takes back what was given, and ends a trial."""
    from touchledger.accounts import grant_plan

    data = grant_plan(prepared(), workspace_id=workspace_id, plan=plan)
    output.result(data["plan"], data, f"Workspace {escape(spelt(data['name']))} is on [bold]{data['plan']}[/].")


@click.group()
def key() -> None:
    """API keys."""


@key.command("mint")
@click.option("--profile", "profile_id", required=True, help="Id of the profile that the key opens.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help="May be repeated; without any, those that read figures. docs/routes.md lists them.",
)
@click.option("--name", default="command line", show_default=True, help="Name shown in lists of keys.")
@click.option("--app", help="Name of the consumer app that will hold the key: makes it a partner key.")
@speaking
def mint_key(output: Output, profile_id: str, scopes: tuple[str, ...], name: str, app: str | None) -> None:
    """Mint an API key and print it; it cannot be shown again."""
    from touchledger.accounts import mint_key as mint

    secret = mint(prepared(), profile_id=profile_id, scopes=scopes, name=name, app=app)
    output.result(secret, {"key": secret, "profile_id": profile_id}, f"[bold]{secret}[/]\nIt cannot be shown again.")


@key.command("list")
@click.option("--profile", "profile_id", required=True, help="Id of the profile that the keys open.")
@speaking
def list_keys(output: Output, profile_id: str) -> None:
    """List the keys of a profile with their ids, never the keys themselves."""
    from touchledger.account_lists import api_keys

    _listed(output, "keys", api_keys(prepared(), profile_id))


@key.command("revoke")
@click.argument("key_id", metavar="KEY")
@speaking
def revoke_key(output: Output, key_id: str) -> None:
    """End KEY (its id) now; what asks with it gets 401."""
    from touchledger.accounts import revoke_key as revoke

    made = revoke(prepared(), key_id=key_id)
    output.result(made["key_id"], made, f"Key {escape(spelt(made['name']))} is revoked.")


def _listed(output: Output, title: str, rows: list[dict[str, Any]]) -> None:
    ids = "\n".join(str(next(iter(row.values()))) for row in rows)
    output.result(ids, rows, table(title, rows))
