"""Peers from PyPI over the same touches: `python -m benchmarks.foreign given.json` in the environment of the peers.

That environment is `requirements-bench.lock`; nothing of it is part of the product. Each reads two Parquet files, pairs
conversions with the touches of their window, and does what it can of the five models; none knows cents.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.meter import Cost, metered

LOOKBACK, HALF_LIFE = 90 * 86_400, 7 * 86_400


def with_polars(touches: str, conversions: str) -> dict[str, Any]:
    """Conversion by destination under five models, grouped twice without a window function."""
    import polars as pl

    pairs = _polars_pairs(touches, conversions)
    bounds = pairs.group_by("conversion_key").agg(
        pl.len().alias("n"),
        pl.col("decay").sum().alias("s"),
        pl.col("pos_l").max().alias("last"),
        pl.col("pos_f").min().alias("first"),
        pl.col("pos_l").filter(~pl.col("is_direct")).max().alias("lnd"),
    )
    credit = (
        pairs.join(bounds, on="conversion_key")
        .group_by("conversion_key", "destination_key")
        .agg(
            (pl.col("pos_l") == pl.col("last")).sum().alias("last_touch"),
            (pl.col("pos_f") == pl.col("first")).sum().alias("first_touch"),
            (pl.col("pos_l") == pl.coalesce("lnd", "last")).sum().alias("last_non_direct"),
            (1 / pl.col("n")).sum().alias("linear"),
            (pl.col("decay") / pl.col("s")).sum().alias("time_decay"),
        )
    )
    return {"moments": {name: _moment(credit["destination_key"], credit[name]) for name in credit.columns[2:]}}


def _polars_pairs(touches: str, conversions: str) -> Any:
    import polars as pl

    ends = pl.scan_parquet(conversions)
    return (
        pl.scan_parquet(touches)
        .join(ends, on="person_key", suffix="_end")
        .filter(pl.col("ts") <= pl.col("ts_end"), pl.col("ts") >= pl.col("ts_end") - LOOKBACK)
        .with_columns((0.5 ** ((pl.col("ts_end") - pl.col("ts")) / HALF_LIFE)).alias("decay"))
        .collect()
    )


def _moment(destination: Any, weight: Any) -> float:
    return float((destination.cast(float) * weight).sum())


def with_pandas(touches: str, conversions: str) -> dict[str, Any]:
    """The same with merge, groupby and transform."""
    import pandas as pd

    pairs = pd.read_parquet(touches).merge(pd.read_parquet(conversions), on="person_key", suffixes=("", "_end"))
    pairs = pairs[(pairs.ts <= pairs.ts_end) & (pairs.ts >= pairs.ts_end - LOOKBACK)].copy()
    pairs["time_decay"] = 0.5 ** ((pairs.ts_end - pairs.ts) / HALF_LIFE)
    pairs["indirect_pos"] = pairs.pos_l.where(~pairs.is_direct)
    by_conversion = pairs.groupby("conversion_key", sort=False)
    last = by_conversion.pos_l.transform("max")
    pairs["last_touch"] = pairs.pos_l == last
    pairs["first_touch"] = pairs.pos_f == by_conversion.pos_f.transform("min")
    pairs["last_non_direct"] = pairs.pos_l == by_conversion.indirect_pos.transform("max").fillna(last)
    pairs["linear"] = 1 / by_conversion.pos_l.transform("size")
    pairs["time_decay"] /= by_conversion.time_decay.transform("sum")
    models = ["last_touch", "first_touch", "last_non_direct", "linear", "time_decay"]
    credit = pairs.groupby(["conversion_key", "destination_key"], sort=False)[models].sum().reset_index()
    # keys of 63 bits times whole numbers would leave what an integer holds
    destination = credit.destination_key.astype(float)
    return {"moments": {model: float((destination * credit[model]).sum()) for model in models}}


def with_channel_attribution(touches: str, conversions: str) -> dict[str, Any]:
    """Paths as text, then its three heuristic models by channel; it has neither last non-direct nor decay."""
    import polars as pl
    from ChannelAttribution import heuristic_models

    pairs = _polars_pairs(touches, conversions)
    paths = (
        pairs.sort("conversion_key", "pos_l")
        .group_by("conversion_key", maintain_order=True)
        .agg(pl.col("destination_key").cast(pl.String).str.join(" > ").alias("path"))
        .with_columns(pl.lit(1).alias("conversions"))
        .select("path", "conversions")
        .to_pandas()
    )
    begun = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        credit = heuristic_models(paths, "path", "conversions", sep=">", flg_pro=False)
    alone = time.process_time() - begun
    channel = credit["channel_name"].astype(float)
    columns = {"last_touch": "last_touch", "first_touch": "first_touch", "linear": "linear_touch"}
    moments = {model: float((channel * credit[_named(credit.columns, name)]).sum()) for model, name in columns.items()}
    return {"moments": moments, "CPU seconds of the package alone": round(alone, 3)}


def _named(columns: Any, name: str) -> str:
    return next(column for column in columns if column in (name, f"{name}_conversions"))


def with_mam(touches: str, conversions: str) -> dict[str, Any]:
    """Sessions by conversion, then its last, first, linear and decay models by channel.

    Touches of one second stay in whatever order they come, so its first and last may be another of that second.
    """
    import polars as pl
    from mam.core import MAM

    sessions = _polars_pairs(touches, conversions).select(
        pl.col("conversion_key").cast(pl.String).alias("user"),
        pl.from_epoch("ts").alias("at"),
        pl.col("destination_key").cast(pl.String).alias("channel"),
        pl.lit(value=True).alias("converted"),
    )
    begun = time.process_time()
    journeys = MAM(
        sessions,
        format_type="session",
        channels_colname="channel",
        journey_with_conv_colname="converted",
        datetime_colname="at",
        user_id_colname="user",
    )
    results = {
        "last_touch": journeys.run_last_click(),
        "first_touch": journeys.run_first_click(),
        "linear": journeys.run_linear(),
        "time_decay": journeys.run_time_decay(HALF_LIFE / 3600),
    }
    alone = time.process_time() - begun
    moments = {model: _moment(*_channels(result)) for model, result in results.items()}
    return {"moments": moments, "CPU seconds of the package alone": round(alone, 3)}


def _channels(result: Any) -> tuple[Any, Any]:
    import polars as pl

    table = next(
        value
        for value in vars(result).values()
        if hasattr(value, "columns") and {"channels", "attribution"} <= set(value.columns)
    )
    return table["channels"].cast(pl.String).cast(pl.Int64), table["attribution"]


# imported before the clock runs
NEEDED = {
    "polars": ("polars",),
    "pandas": ("pandas", "pyarrow.parquet"),
    "ChannelAttribution": ("polars", "pandas", "ChannelAttribution"),
    "marketing-attribution-models": ("polars", "mam.core"),
}
WAYS = {
    "polars": with_polars,
    "pandas": with_pandas,
    "ChannelAttribution": with_channel_attribution,
    "marketing-attribution-models": with_mam,
}


def main() -> None:
    """Do what the file says, and print what it cost."""
    given = json.loads(Path(sys.argv[1]).read_text())
    # one of them advertises itself on the output
    with contextlib.redirect_stdout(io.StringIO()):
        for module in NEEDED[given["way"]]:
            importlib.import_module(module)
    cost: Cost = metered(lambda: WAYS[given["way"]](given["touches"], given["conversions"]))
    sys.stdout.write(cost.line() + "\n")


if __name__ == "__main__":
    main()
