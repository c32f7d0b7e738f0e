"""What the assets share in a run: the settings, the lake, dbt, and the right to write the warehouse."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

import dagster as dg
from packaging.version import Version
from pydantic import PrivateAttr

from api.migrate import require_known
from orchestration import early_dbt, pointer
from orchestration.dagster_dbt import DbtCliResource
from orchestration.dbt_manifest import PROJECT, executable
from orchestration.instance import RUN_TAG, process_tags
from orchestration.jobs import BUILD
from orchestration.lake import Lake
from orchestration.lake_owners import require_its_lake
from orchestration.locks import only_writer
from orchestration.orphans import PARENT_VARIABLE
from orchestration.publish import take_token
from orchestration.says_why import NotBegunError, told_as
from touchledger.settings import Settings, load

WAIT_SECONDS = 120.0


class Deployment(dg.ConfigurableResource[Any]):
    """The settings of this deployment and its lake, read from the environment when a run needs them."""

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Note in Dagster's books which process executes the run; one of a command carries it from its beginning."""
        run, instance = context.run, context.instance
        # Dagster looks after no process of its own: a run whose process was killed stood as started for hours
        if run is not None and instance is not None and run.tags.get(RUN_TAG) != run.run_id:
            instance.add_run_tags(run.run_id, process_tags(run.run_id))

    @property
    def settings(self) -> Settings:
        return load()

    @property
    def lake(self) -> Lake:
        return Lake(load().lake)

    def lake_to_land_in(self) -> Lake:
        """The lake, which still holds what was landed before. Raises LostLakeError, NewerDatabaseError."""
        require_known(self.settings.operational_url)
        require_its_lake(self.settings.operational_url, self.lake)
        return self.lake


class Warehouse(dg.ConfigurableResource[Any]):
    """The right to write the warehouse, held for the whole run, with the run's fencing token."""

    _token: int = PrivateAttr(default=0)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Warehouse]:
        settings = load()
        with ExitStack() as held:
            with told_as(NotBegunError):
                lock = settings.home / "locks" / "warehouse.lock"
                held.enter_context(only_writer(lock, purpose="write the warehouse", wait_seconds=WAIT_SECONDS))
                # a pipeline that an upgrade left running would publish tables that the new version's API does not serve
                require_known(settings.operational_url)
                served = pointer.read_to_replace(settings.published)
                self._token = take_token(settings.operational_url, above=served.token if served else 0)
            held.enter_context(_named_parent())
            # other jobs pull first, and would keep dbt's process waiting, and its memory
            if context.run is not None and context.run.job_name == BUILD.name:
                held.enter_context(early_dbt.started())
            yield self

    @property
    def token(self) -> int:
        """Grows with every run; a run can never publish over one that started later."""
        return self._token


@contextmanager
def _named_parent() -> Iterator[None]:
    before = os.environ.get(PARENT_VARIABLE)
    os.environ[PARENT_VARIABLE] = str(os.getpid())
    try:
        yield
    finally:
        # what this process starts later has children of its own, and their dbt would end at once for the wrong parent
        if before is None:
            del os.environ[PARENT_VARIABLE]
        else:
            os.environ[PARENT_VARIABLE] = before


class WarehouseDbt(DbtCliResource):
    """dbt through `touchledger-dbt`, without the adapter that Dagster would load into its own process.

    The adapter serves row counts, which would open the warehouse beside its one writer, and costs two seconds.
    """

    def _initialize_dbt_core_adapter(self, args: Any) -> Any:
        return None

    @property
    def _cli_version(self) -> Version:
        # a process more to be told the same
        return Version(version("dbt-core"))


def dbt() -> WarehouseDbt:
    """The dbt of this checkout, by absolute paths."""
    return WarehouseDbt(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=executable())
