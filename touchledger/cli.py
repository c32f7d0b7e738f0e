"""The `touchledger` command."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from orchestration.garbage import search_seldom
from touchledger.account_commands import key, profile, workspace
from touchledger.ends import Commands
from touchledger.output import Output, speaking, spelt
from touchledger.prepared import prepared, told_settings

# libraries that take seconds to import are imported by the commands that need them


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="touchledger")
def main() -> None:
    """Open advertising attribution: every touch, every cent, accounted for.

    Settings are TOUCHLEDGER_* variables; .env.example lists them. State lives under TOUCHLEDGER_HOME.
    """
    search_seldom()


for group in (profile, workspace, key):
    main.add_command(group)


@main.command()
@click.option("--once", is_flag=True, help="Do it all, print the table, and leave nothing running.")
@speaking
def up(output: Output, once: bool) -> None:
    """Run the demo: pull, model, check, publish; then serve the API, Dagster and the docs until Ctrl-C."""
    from touchledger.up import run

    run(output, told_settings(), once=once)


@main.command("connect")
@click.argument("vendor", type=click.Choice(["shopify", "stripe"]))
@click.option("--profile", "profile_id", required=True, help="Id of the profile that the account belongs to.")
@click.option("--shop", help="Of Shopify: the name before .myshopify.com.")
@click.option("--sandbox", "is_sandbox", is_flag=True, help="The account is the bundled sandbox's.")
@speaking
def connect_account(output: Output, vendor: str, profile_id: str, shop: str | None, is_sandbox: bool) -> None:
    """Connect an account at VENDOR by a token that its owner made there, read from the terminal or standard input."""
    from touchledger.own_tokens import connect

    stdin = click.get_text_stream("stdin")
    token = click.prompt("Token", hide_input=True, err=True) if stdin.isatty() else stdin.readline()
    made = connect(
        prepared(), vendor=vendor, profile_id=profile_id, token=token.strip(), shop=shop, is_sandbox=is_sandbox
    )
    shown = f"{escape(spelt(made['name']))} ({escape(spelt(made['account']))})"
    for lack in made["lacking"]:
        output.warn(f"{vendor}: the token lacks the right {lack['right']}; without it not pulled: {lack['lost']}")
    output.result(made["connection_id"], made, f"{shown} is connected: [bold]{made['connection_id']}[/]")


@main.command("import")
@click.argument("dataset")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--profile", "profile_id", help="Id of the profile the rows belong to; none for fx_rates.")
@speaking
def import_files(output: Output, dataset: str, files: tuple[Path, ...], profile_id: str | None) -> None:
    """Import CSV, JSONL or Parquet FILES (also .gz) of a DATASET; the same bytes load once."""
    from touchledger.imports import run

    run(output, prepared(), dataset=dataset, files=files, profile_id=profile_id)


@main.command()
@speaking
def sync(output: Output) -> None:
    """Pull every connection into the lake; exits with 1 when one of them failed, after the others were pulled."""
    from touchledger.pipeline_commands import failed_connections, run_shown, summary

    outcome = run_shown(output, prepared(), "sync")
    rows, bad = (
        sum(one.get(name, 0) for one in outcome.assets.values()) for name in ("dagster/row_count", "quarantined")
    )
    data = {**summary(outcome), "rows_loaded": rows, "rows_quarantined": bad}
    output.result(str(rows), data, f"Rows of the connections that landed: {rows:,}; in quarantine: {bad:,}.")
    if failed_connections(outcome):
        raise SystemExit(1)


@main.command()
@click.option("--full-refresh", is_flag=True, help="Build every table from nothing.")
@click.option(
    "--target",
    type=click.Choice(["duckdb", "spark"]),
    help="Engine that runs the models; default: TOUCHLEDGER_ENGINE. docs/spark.md says what spark needs.",
)
@speaking
def build(output: Output, full_refresh: bool, target: str | None) -> None:
    """Turn all that is in the lake and the database into a checked, published snapshot."""
    from orchestration import early_dbt

    settings = prepared()
    with early_dbt.started():
        from touchledger.pipeline_commands import run_shown, summary

        outcome = run_shown(output, settings, "build", full_refresh=full_refresh, engine=target)
    snapshot = str(outcome.assets["published"]["snapshot"])
    output.result(snapshot, summary(outcome), f"Published snapshot [bold]{snapshot}[/].")


@main.command()
@speaking
def rank(output: Output) -> None:
    """Fit and judge the ranker on the newest scores; the next build publishes what it tells of each ad."""
    from touchledger.pipeline_commands import run_shown

    told = run_shown(output, prepared(), "ranking").assets["ranking/told"]
    standing = told.get("standing", {})
    output.result(
        str(told.get("dagster/row_count", 0)),
        {"day": told.get("day"), "standing": standing},
        "\n".join(f"{measure}: {reason}" for measure, reason in standing.items()) or str(told.get("state")),
    )


@main.command()
@speaking
def erase(output: Output) -> None:
    """Finish every erasure that waits: rewrite what holds the person, build anew, publish, drop older snapshots."""
    from orchestration.erasure import waiting
    from touchledger.pipeline_commands import run_shown, summary

    settings = prepared()
    count = len(waiting(settings.operational_url))
    outcome = summary(run_shown(output, settings, "build")) if count else {}
    output.result(str(count), {**outcome, "erasures": count}, f"Erasures completed: {count}.")


@main.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Default: TOUCHLEDGER_API_PORT.")
@click.option("--workers", type=click.IntRange(1, 64), help="Default: TOUCHLEDGER_API_WORKERS.")
@click.option("--pipeline", is_flag=True, help="Run Dagster too: what is sent, dropped or due is built by itself.")
@speaking
def serve(output: Output, port: int | None, workers: int | None, pipeline: bool) -> None:
    """Serve the API until Ctrl-C."""
    from touchledger.serving import serve_until_interrupted

    settings = prepared()
    changes = {name: value for name, value in (("api_port", port), ("api_workers", workers)) if value}
    serve_until_interrupted(output, settings.model_copy(update=changes), with_pipeline=pipeline)


@main.command()
@click.option("--rows", "dataset", metavar="DATASET", help="Print the records of that data set in quarantine instead.")
@speaking
def status(output: Output, dataset: str | None) -> None:
    """What is served of which profiles, how fresh each source is, which files are not loaded, what is in quarantine."""
    from touchledger.status import report, report_rows

    if dataset is not None:
        report_rows(output, prepared(), dataset)
    else:
        report(output, prepared())


@main.command()
@click.argument("conversion")
@click.option("--profile", "profile_id", help="Id of its profile; needed when several have such a conversion.")
@speaking
def explain(output: Output, conversion: str, profile_id: str | None) -> None:
    """Why a CONVERSION is credited as it is: its path, weights and cents under all five models.

    CONVERSION is its conversion id, its event id, the key it was sent under, or its payment reference.
    """
    from touchledger.explain import report

    report(output, prepared(), conversion, profile_id)


@main.command()
@speaking
def replay(output: Output) -> None:
    """Judge quarantined records again, after a contract or a profile was put right."""
    from data_contracts.contract import landed
    from orchestration.importer import replay_quarantine
    from orchestration.lake import Lake
    from orchestration.quarantine import counted

    settings = prepared()
    lake = Lake(settings.lake)
    batches = replay_quarantine(settings.operational_url, lake)
    # as `touchledger status` counts them, those of batches that nothing changed among them
    left = sum(one.rows for dataset in landed() for one in counted(lake, dataset))
    data = {"batches": len(batches), "rows_still_quarantined": left}
    output.result(str(len(batches)), data, f"Batches changed: {len(batches)}; rows that stay in quarantine: {left:,}.")


@main.command()
@speaking
def docs(output: Output) -> None:
    """Write the data docs from the warehouse as it was built last."""
    from touchledger.data_docs import DataDocsError, write_data_docs

    settings = prepared()
    try:
        with output.working("Write the data docs"):
            write_data_docs(settings)
    except DataDocsError as error:
        raise click.ClickException(str(error)) from None
    output.result(str(settings.data_docs), {"path": str(settings.data_docs)})


@main.command()
@speaking
def doctor(output: Output) -> None:
    """Check this machine and deployment; each line that is not well says what to do."""
    from touchledger.doctor import examine

    raise SystemExit(examine(output, told_settings()))
