"""Studies of an ad account as they land: one that cannot be read stays as it landed, and the others come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import structlog

from connectors.ad_platform import AdPlatform, Row
from connectors.errors import Malformed, Refused

if TYPE_CHECKING:
    from orchestration.pulls import Pull

log = structlog.get_logger(__name__)


def land_studies(pull: Pull, platform: AdPlatform) -> Malformed | None:
    """What ends the pull once all else came: a study that cannot be read will be the same each time."""
    try:
        studies = platform.studies(pull.today)
    except Malformed as odd:
        return odd
    except Refused as refused:
        # few accounts may read studies, and none needs them for its figures
        log.info("no_studies", connection=pull.connection.id, reason=refused.reason)
        return None
    if studies.unread:
        log.warning("studies_unread", connection=pull.connection.id, studies=list(studies.unread))
    for dataset, rows in studies.rows.items():
        pull.land(dataset, [*rows, *_as_landed(pull, dataset, studies.unread)])
    return studies.odd


def _as_landed(pull: Pull, dataset: str, studies: Sequence[str]) -> Iterable[Row]:
    """What the batch holds of these studies, which would go with it."""
    connection = pull.connection
    found = pull.lake.named(
        dataset=dataset, profile_id=connection.profile_id, source=connection.provider, beginning=connection.id
    )
    for path in found if studies else ():
        if path.stem == connection.id:
            for row in pq.read_table(path, filters=[("platform_study_id", "in", studies)]).to_pylist():
                yield {name: value for name, value in row.items() if not name.startswith("_")}
