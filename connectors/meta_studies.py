"""Meta's ad studies as experiments: holdouts with the platform's own counts, and splits counted by insights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from connectors.ad_platform import Row, Studies
from connectors.errors import Malformed, Refused, as_promised
from connectors.figures import kept
from connectors.meta_graph import MetaGraph, time_range
from connectors.meta_rows import CANONICAL_ACTION, PLATFORM, number, totals

KINDS = {"LIFT": "lift", "SPLIT_TEST": "split"}
# each costs two requests, and one more per cell of a split
MOST_STUDIES = 100
_STUDY = "id,name,type,start_time,end_time,canceled_time,updated_time"
# a list within an object ends after 25 unless more are asked for
_CELL = "id,name,treatment_percentage,control_percentage,campaigns.limit(500){id},adsets.limit(500){id}"
# what ends at midnight ends with the day before
_MOMENT = timedelta(microseconds=1)
_HELD = {"campaigns": ("campaign", "campaign"), "adsets": ("ad_set", "adset")}


@dataclass(frozen=True)
class Account:
    """The ad account that is read: the path of its node, its currency, its time zone, and the day it is there."""

    path: str
    currency: str
    zone: ZoneInfo
    today: date


def read(graph: MetaGraph, account: Account) -> Studies:
    """The account's newest studies; other types of study are left out.

    One that is odd, or that the token may list and not look into, keeps no other from coming.
    """
    with as_promised("meta"):
        found = [node for node in graph.walk(f"{account.path}/ad_studies", {"fields": _STUDY}) if _is_ours(node)]
        newest = sorted(found, key=lambda node: str(node.get("start_time")), reverse=True)[:MOST_STUDIES]
    rows: dict[str, list[Row]] = {"experiments": [], "experiment_arms": []}
    unread, fault = [], None
    for node in newest:
        try:
            with as_promised("meta"):
                study, arms = _study(graph, account, node)
        except (Malformed, Refused) as odd:
            # what is refused stays so, and no figure of ours needs it
            fault = fault or (odd if isinstance(odd, Malformed) else None)
            unread.append(str(node["id"]))
            continue
        rows["experiments"].append(study)
        rows["experiment_arms"] += arms
    return Studies(rows, unread, fault)


def _is_ours(node: Row) -> bool:
    return node["type"] in KINDS and bool(node["id"])


def _study(graph: MetaGraph, account: Account, node: Row) -> tuple[Row, list[Row]]:
    study = _experiment(node, account)
    cells = graph.walk(f"{node['id']}/cells", {"fields": _CELL})
    if study["kind"] == "split":
        return study, [_split(graph, study, cell, account) for cell in cells]
    objective = _primary(graph.walk(f"{node['id']}/objectives", {"fields": "id,name,type,is_primary"}))
    results = _results(graph, objective)
    held = [_held_back(study, cell, results.get(str(cell["id"]), {}), account) for cell in cells]
    return study | _claimed(objective, cells, results), [arm for arms in held for arm in arms]


def _experiment(node: Row, account: Account) -> Row:
    return {
        "platform": PLATFORM,
        "platform_study_id": node["id"],
        "name": node["name"],
        "kind": KINDS[node["type"]],
        "status": "CANCELED" if node.get("canceled_time") else "ACTIVE",
        "start_date": _day(node["start_time"], account.zone),
        "end_date": _day(node["end_time"], account.zone, before=_MOMENT) if node.get("end_time") else None,
        "updated_at": datetime.fromisoformat(node["updated_time"]).astimezone(UTC),
    }


def _primary(objectives: Iterable[Row]) -> Row:
    return next(iter(sorted(objectives, key=lambda one: not one.get("is_primary"))), {})


def _results(graph: MetaGraph, objective: Row) -> dict[str, Row]:
    """By cell; Meta writes each result as a string of JSON, and leaves them out until there are any."""
    if not objective:
        return {}
    params = "results,last_updated_results"
    found = graph.node(f"{objective['id']}", params, breakdowns=json.dumps(["cell_id"])).get("results") or []
    parsed = [json.loads(one) if isinstance(one, str) else one for one in found]
    return {str(one.get("cell_id", "")): one for one in parsed}


def _claimed(objective: Row, cells: list[Row], results: Mapping[str, Row]) -> Row:
    """What Meta concludes: its lift over the scaled control group, and its winner where it calls it significant."""
    claimed: Row = {"objective": objective.get("type")}
    if len(cells) != 1 or len(results) != 1:
        return claimed
    result = next(iter(results.values()))
    gained, scaled = _figure(result, "conversions", "incremental"), _figure(result, "conversions", "scaled")
    if gained is None or not scaled:
        return claimed
    winner = None
    if result.get("conversions.isStatSig", result.get("conversions_isStatSig")) in (True, "true", 1):
        winner = _arm_id(cells[0], "treatment" if gained > 0 else "control")
    return claimed | {"platform_lift": round(gained / scaled, 4), "platform_winner_arm_id": winner}


def _held_back(study: Row, cell: Row, result: Row, account: Account) -> list[Row]:
    """The cell's people who could see the ads and, where some were held back, those who could not."""
    level, ids = _entities(cell)
    # people who converted where Meta tells them: a rate of people cannot exceed one
    counted = "buyers" if _figure(result, "buyers", "test") is not None else "conversions"
    treated = {
        **_arm(study, cell, "treatment", level, ids),
        "population": _whole(result, "population", "test"),
        "conversions": _whole(result, counted, "test"),
        **_spend(result, account),
    }
    if not cell.get("control_percentage"):
        return [treated]
    held = {
        **_arm(study, cell, "control", level, ids),
        "population": _whole(result, "population", "control"),
        "conversions": _whole(result, counted, "control"),
    }
    return [treated, held]


def _split(graph: MetaGraph, study: Row, cell: Row, account: Account) -> Row:
    """A cell of a split, which has no results of its own: reach, spend and purchases of what it holds, by insights."""
    level, ids = _entities(cell)
    arm = _arm(study, cell, "cell", level, ids)
    until = min(study["end_date"] or account.today, account.today)
    if not ids or study["start_date"] > until:
        return arm
    spelled = next(spelled for ours, spelled in _HELD.values() if ours == level)
    only = [{"field": f"{spelled}.id", "operator": "IN", "value": ids}]
    asked = {
        "level": "account",
        "fields": "spend,reach,actions",
        "time_range": time_range(study["start_date"], until),
        "filtering": json.dumps(only),
    }
    for row in graph.walk(f"{account.path}/insights", asked):
        arm |= {"population": int(number(row.get("reach", "0"))), "conversions": int(totals(row, CANONICAL_ACTION))}
        arm |= _spend(row, account)
    return arm


def _arm(study: Row, cell: Row, role: str, level: str | None, ids: list[str]) -> Row:
    parts = {"treatment": "people who could see it", "control": "people held back"}
    return {
        "platform": PLATFORM,
        "platform_study_id": study["platform_study_id"],
        "arm_id": _arm_id(cell, role),
        "name": f"{cell['name']}: {parts[role]}" if role in parts else cell["name"],
        "role": role,
        "entity_level": level,
        "entity_ids": ids if ids else None,
        "updated_at": study["updated_at"],
    }


def _arm_id(cell: Row, role: str) -> str:
    return str(cell["id"]) if role == "cell" else f"{cell['id']}:{role}"


def _entities(cell: Row) -> tuple[str | None, list[str]]:
    for edge, (level, _) in _HELD.items():
        if held := (cell.get(edge) or {}).get("data"):
            return level, [str(one["id"]) for one in held]
    return None, []


def _spend(row: Row, account: Account) -> Row:
    return {"spend": kept(number(row["spend"])), "currency": account.currency} if row.get("spend") else {}


def _whole(result: Row, group: str, name: str) -> int | None:
    found = _figure(result, group, name)
    return None if found is None else int(found)


def _figure(result: Row, group: str, name: str) -> Decimal | None:
    """`buyers.test`, which Meta also spells `buyers_test`; None where it is left out."""
    value: Any = result.get(f"{group}.{name}", result.get(f"{group}_{name}"))
    return None if value is None else number(value)


def _day(text: str, zone: ZoneInfo, *, before: timedelta = timedelta(0)) -> date:
    return (datetime.fromisoformat(text) - before).astimezone(zone).date()
