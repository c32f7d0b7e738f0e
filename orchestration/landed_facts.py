"""What a landed raw file says of itself in its footer, and the names that all who read such files share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

META_KEY = b"touchledger"
# an empty file beside the landed ones of a data set, of its newest contract
SCHEMA = "_schema.parquet"
# how DuckDB reads landed files: else a folder above them called `currency=EUR` would be what their rows say of theirs
AS_THEY_ARE = "union_by_name = true, hive_partitioning = false"


@dataclass(frozen=True)
class Facts:
    """What a raw file says of itself. `quarantine` names its quarantine file; `content` is the hash of what came in."""

    seq: int
    rows_in: int
    rows_loaded: int
    rows_quarantined: int
    content: str
    contract: str
    origin: str | None
    quarantine: str | None
    loaded_at: str

    @property
    def loaded(self) -> datetime:
        return datetime.fromisoformat(self.loaded_at)

    def ended(self, end: datetime | None, now: datetime) -> bool:
        """Whether what it tells of, until `end`, was not over when it landed and is now."""
        return end is not None and self.loaded < end <= now

    def landed_since(self, moment: datetime | None) -> bool:
        """Whether it landed after that moment; what a clock that was ahead landed did not."""
        return moment is not None and moment < self.loaded <= datetime.now(UTC)


class DamagedRawFileError(RuntimeError):
    """A file of the lake that is none, or tells nothing of itself; the message says what to do."""


def read_facts(path: Path) -> Facts:
    """The facts of a landed file, read from its footer. Raises DamagedRawFileError, and OSError where it is gone."""
    # dbt's process needs this module in every build and a footer in few, and pyarrow takes a quarter of a second
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata: dict[bytes, bytes] = pq.read_metadata(path).metadata or {}
        return Facts(**json.loads(metadata[META_KEY]))
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        # a damaged footer is told as OSError too; what the disk itself refuses has a number
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _damaged(path) from None


def require_whole(path: Path) -> None:
    """Read all of a landed file. Raises DamagedRawFileError where its footer or any of its rows cannot be read."""
    import pyarrow.parquet as pq

    read_facts(path)
    with reading(path), pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            file.read_row_group(group)


def require_footer(path: Path) -> None:
    """Raises DamagedRawFileError where a file of the quarantine was cut off, and OSError where it is gone."""
    import pyarrow.parquet as pq

    with reading(path):
        pq.read_metadata(path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What pyarrow raises over a damaged file of the lake is a DamagedRawFileError; faults of the disk stay OSError."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _damaged(path) from None


def _damaged(path: Path) -> DamagedRawFileError:
    return DamagedRawFileError(f"{path} is damaged; put it back from the backup (docs/runbook.md)")


def withdraws(path: Path) -> bool:
    """Whether a record of a landed file withdraws what others say, by the footer; true where that does not tell."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    column = metadata.schema.names.index("_deleted")
    groups = (metadata.row_group(number).column(column) for number in range(metadata.num_row_groups))
    return any(not group.is_stats_set or group.statistics.max is not False for group in groups)
