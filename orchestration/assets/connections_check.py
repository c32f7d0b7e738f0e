"""Whether every connection of a kind could be pulled: a check that warns, for what one account lacks stops no other."""

from collections.abc import Sequence

import dagster as dg

from orchestration.pulls import Pull
from orchestration.resources import Deployment
from orchestration.sync import awaiting_owner

NAME = "connections"
# of a provider that is down there may be hundreds; the table names all
NAMED = 10
_SCHEMA = dg.TableSchema([dg.TableColumn(name) for name in ("account", "provider", "connection", "reason")])


def connections_check_spec(*key: str) -> dg.AssetCheckSpec:
    """The check of one pulled asset."""
    return dg.AssetCheckSpec(
        name=NAME,
        asset=dg.AssetKey(key),
        description="Every connected account was pulled to the end; names those that were not, and why",
    )


def connections_check(deployment: Deployment, kind: str, pulls: Sequence[Pull]) -> dg.AssetCheckResult:
    """Not passed when a pull failed, or when an account of the kind is not asked until its owner connects it anew."""
    failed = [(one.connection, one.failure.reason) for one in pulls if one.failure]
    pulled = {one.connection.id for one in pulls}
    waiting = [one for one in awaiting_owner(deployment.settings, kind) if one.id not in pulled]
    failed += [(one, one.status_reason or one.status) for one in waiting]
    names = [f"{one.display_name} ({one.provider}): {reason}" for one, reason in failed]
    told = "; ".join(names if len(names) <= NAMED else [*names[:NAMED], f"and {len(names) - NAMED} more"])
    table = [
        dg.TableRecord({"account": one.display_name, "provider": one.provider, "connection": one.id, "reason": reason})
        for one, reason in failed
    ]
    return dg.AssetCheckResult(
        check_name=NAME,
        passed=not failed,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(failed)} of {len(pulls) + len(waiting)} did not come: {told}" if failed else None,
        metadata={"failed": dg.TableMetadataValue(table, _SCHEMA)} if failed else None,
    )
