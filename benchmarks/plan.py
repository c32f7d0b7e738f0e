"""What 10 billion touches would take, reckoned from the largest measured build and assumptions that are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.machine import kept

TOUCHES = 10_000_000_000
# a smaller build is made of what every build costs, whatever its size
LEAST = 1_000_000
FACTOR = "Spark's CPU over DuckDB's on large data"
# what nobody measured; each is a row of the page's table of assumptions
ASSUMED = {
    "days of history": 366,
    FACTOR: 4.0,
    "share of a cluster's cores that work": 0.6,
    "cores of the cluster": 256,
    "price of a core for an hour, with 4 GB of memory": 0.05,
    "price of a GB in object storage for a month": 0.023,
    "bytes of a touch in a shuffle by person": 64,
    "MiB that a shuffle partition should have": 128,
    "touches of a thousand that a day adds or changes (new, late, refunded)": 1.2 / 366 * 1000,
}


def plan(builds: Sequence[dict[str, Any]]) -> str:
    """The reckoning as Markdown tables, or a sentence when no build is measured."""
    skewed = [one for one in builds if one["world"]["kind"] == "skewed" and one["world"]["touches"] >= LEAST]
    if not skewed:
        return "Nothing is reckoned before a build of a million touches is measured."
    base = max(skewed, key=lambda result: int(result["world"]["touches"]))
    measured = spark_factor(kept("spark-parity.json"))
    lines = [f"| {what} | {value} |" for what, value in reckoned(base, ASSUMED[FACTOR]).items()]
    if measured is not None:
        worst = reckoned(base, measured)
        said = f"{measured} times DuckDB's, as the parity run measured it on little data"
        hours, cost = worst["core hours of a full build on Spark"], worst["a full build"]
        lines.append(f"| core hours and cost at {said} | {hours}, {cost} |")
    told = [f"| {what} | {value:,.4g} |" for what, value in ASSUMED.items()]
    origin = f"Reckoned from the build of {base['world']['touches']:,} touches, largest of those measured."
    return "\n".join([origin, "", "| assumed | |", "|---|--:|", *told, "", "| reckoned | |", "|---|--:|", *lines])


def spark_factor(parity: Sequence[dict[str, Any]]) -> float | None:
    """Spark's seconds over DuckDB's on the same cores in the largest parity world, None below a million touches."""
    worlds = {
        int(name.split()[0].replace(",", "")): world["seconds"]
        for result in parity
        for name, world in result["worlds"].items()
        if name.endswith(" touches")
    }
    if not worlds or max(worlds) < LEAST:
        return None
    seconds = worlds[max(worlds)]
    return round(float(seconds["spark"]) / float(seconds["duckdb"]), 1)


def reckoned(base: dict[str, Any], factor: float) -> dict[str, str]:
    """Storage, partitions, hours and money for TOUCHES, each with its unit."""
    touches = base["world"]["touches"]
    per_million = base["cpu"] / touches * 1e6
    gigabytes = {place: base["bytes"][place] / touches * TOUCHES / 2**30 for place in ("lake", "warehouse")}
    core_hours = TOUCHES / 1e6 * per_million * factor / 3600
    shuffled = TOUCHES * ASSUMED["bytes of a touch in a shuffle by person"]
    partitions = shuffled / 2**20 / ASSUMED["MiB that a shuffle partition should have"]
    working = ASSUMED["cores of the cluster"] * ASSUMED["share of a cluster's cores that work"]
    dollars = core_hours / ASSUMED["share of a cluster's cores that work"]
    dollars *= ASSUMED["price of a core for an hour, with 4 GB of memory"]
    stored = sum(gigabytes.values()) * ASSUMED["price of a GB in object storage for a month"]
    return {
        "touches a day": f"{TOUCHES / ASSUMED['days of history'] / 1e6:,.0f} million",
        "lake": f"{gigabytes['lake']:,.0f} GB",
        "tables of the warehouse": f"{gigabytes['warehouse']:,.0f} GB",
        "CPU per million touches, DuckDB": f"{per_million:,.1f} s",
        "core hours of a full build on Spark": f"{core_hours:,.0f}",
        "its wall time on the assumed cluster": f"{core_hours / working:,.1f} h",
        "partitions of a shuffle by person": f"{2 ** int(partitions - 1).bit_length():,}",
        "a full build": f"${dollars:,.0f}, ${dollars / (TOUCHES / 1e6):,.4f} a million touches",
        "storage for a month": f"${stored:,.0f}, ${stored / (TOUCHES / 1e6):,.4f} a million touches",
        "a day's increment, were it as cheap per touch": f"${dollars * ASSUMED[_DAY] / 1000:,.2f}",
    }


_DAY = "touches of a thousand that a day adds or changes (new, late, refunded)"
