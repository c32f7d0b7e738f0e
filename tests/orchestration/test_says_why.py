"""What Dagster's pages show first of a run that failed."""

from collections.abc import Iterator

import dagster as dg
import pytest

from orchestration import resources
from orchestration.assets import tried_again as again
from orchestration.assets.warehouse import errors_first
from orchestration.locks import only_writer
from orchestration.pipeline import Listener, Outcome
from orchestration.says_why import says_why
from touchledger.settings import Settings

FULL = "No space left on device; make room"


@dg.asset
@says_why
def at_once() -> None:
    """Told at once."""
    raise OSError(FULL)


@dg.asset
@says_why
def bit_by_bit(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[None]]:
    """Told bit by bit."""
    yield dg.MaterializeResult(metadata={"tries": context.retry_number})
    raise OSError(FULL)


@dg.asset
@says_why
def twice(context: dg.AssetExecutionContext) -> None:
    """Tried twice."""
    with again.tried_again(context.retry_number):
        raise OSError(FULL)


def failed(result: dg.ExecuteInProcessResult) -> str:
    """The first line of the error that the run's failure carries."""
    (failure,) = (event for event in result.all_events if event.event_type is dg.DagsterEventType.RUN_FAILURE)
    assert failure.job_failure_data.error is not None
    return failure.job_failure_data.error.message.partition("\n")[0]


@pytest.mark.parametrize("asset", [at_once, bit_by_bit, twice], ids=lambda asset: asset.key.path[0])
def test_the_first_line_of_a_failed_run_is_what_its_step_raised(
    asset: dg.AssetsDefinition, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it was "Error occurred while executing op", and of what was tried twice "Exceeded max_retries of 1"
    monkeypatch.setattr(again, "WAIT_SECONDS", 0)
    outcome = Outcome("")
    result = dg.materialize([asset], raise_on_error=False)
    listener = Listener(outcome, lambda _: None)
    for event in result.all_events:
        listener(dg.EventLogEntry(None, "INFO", "", "", 0.0, dagster_event=event))
    assert failed(result).endswith(f"Failure: OSError: {FULL}")
    # a terminal shows the words alone
    assert outcome.problems == [f"{asset.key.path[0]}: OSError: {FULL}"]
    # as Dagster shows it
    assert asset.descriptions_by_key[asset.key].startswith("T")


def of(settings: Settings, *path: str) -> dg.ExecuteInProcessResult:
    """A run of one asset, as somebody materializes it on Dagster's pages."""
    from orchestration.definitions import defs

    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey(path)], raise_on_error=False)


def test_a_publication_of_half_a_warehouse_says_first_what_to_do(settings: Settings) -> None:
    assert failed(of(settings, "published")).endswith("is not built to its end; run `touchledger build` first")


def test_a_run_that_does_not_get_the_warehouse_says_first_who_has_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "WAIT_SECONDS", 0.0)
    with only_writer(settings.home / "locks" / "warehouse.lock", purpose="build elsewhere"):
        told = failed(of(settings, "published"))
    assert "WriterBusyError: cannot write the warehouse" in told
    assert told.endswith("to build elsewhere. Wait for it to end, or end that process.")


def test_what_dbt_says_of_a_failed_test_comes_before_its_command() -> None:
    call = "The dbt CLI process with command\n\n`dbt build`\n\nfailed with exit code `1`."
    failure = "Failure in test unique_paths (models/paths.yml)\n  Got 1 result"
    assert errors_first(f"{call}\n\nErrors parsed from dbt logs:\n\n{failure}") == f"{failure}\n\n{call}"
    assert errors_first(call) == call
