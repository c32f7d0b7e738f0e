"""`touchledger explain`: one conversion's path, each touch's weight and every cent, from the published snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from api.errors import ApiError
from api.money import in_currency
from api.served import MODELS, ProfileFacts, Reader, profile_facts
from api.snapshot import snapshots
from api.v1.conversions import queries, rows
from api.v1.conversions.split import shares, values
from touchledger.output import Output, spelt
from touchledger.settings import Settings

Row = Mapping[str, Any]

_PROFILES = "select profile_id from profiles order by profile_id"
_BEYOND = """
select payments.refunded_beyond, payments.currency
from conversions
join payments on payments.profile_key = $profile_key and payments.payment_ref = conversions.conversion_ref
where conversions.profile_key = $profile_key and conversions.conversion_key = $conversion_key
    and conversions.is_cash and payments.refunded_beyond > 0
"""


def report(output: Output, settings: Settings, handle: str, profile_id: str | None) -> None:
    """Print how the credit of a conversion came about.

    `handle`: its conversion id, event id, the caller's key or its payment reference. Raises ClickException when no
    profile has such a conversion, or when several have and none is named; BadParameter for a profile not published.
    """
    with _readable(settings) as reader:
        if reader is None:
            raise click.ClickException("nothing is published yet; run `touchledger build` first")
        profile, found = _only(list(_found(reader, handle, profile_id)), handle)
        first = found["inherited_from"] and queries.conversion(reader, profile, found["inherited_from"])
        path = queries.path(reader, profile, found["path_conversion_key"])
        cents = queries.cents(reader, profile, found["conversion_key"])
        data = _data(profile, found, path, cents, since=(first or found)["ts"])
        data["refunded_beyond"] = _beyond(reader, profile, found)
    output.result(str(found["conversion_id"]), data, *_shown(profile, found, data))


@contextmanager
def _readable(settings: Settings) -> Iterator[Reader | None]:
    try:
        with snapshots(settings).reader() as reader:
            yield reader
    except ApiError:
        raise click.ClickException("the published snapshot cannot be read; `touchledger doctor` says more") from None


def _found(reader: Reader, handle: str, profile_id: str | None) -> Iterator[tuple[ProfileFacts, dict[str, Any]]]:
    published = [one for (one,) in reader.rows(_PROFILES)]
    if profile_id is not None and profile_id.lower() not in published:
        raise click.BadParameter(f"nothing is published of a profile {profile_id!r}", param_hint="--profile")
    for one in published if profile_id is None else [profile_id.lower()]:
        profile = profile_facts(reader, one)
        conversion = profile and queries.conversion(reader, profile, handle, by_reference=True)
        if profile and conversion:
            yield profile, conversion


def _only(found: Sequence[tuple[ProfileFacts, dict[str, Any]]], handle: str) -> tuple[ProfileFacts, dict[str, Any]]:
    if not found:
        raise click.ClickException(f"no conversion is known as {handle}")
    if len(found) > 1:
        raise click.ClickException(f"{len(found)} profiles have a conversion {handle}; name one with --profile")
    return found[0]


def _beyond(reader: Reader, profile: ProfileFacts, found: Row) -> dict[str, str] | None:
    """What was taken back beyond the payment's value, in its own currency; None for nothing."""
    of = {"profile_key": profile.profile_key, "conversion_key": found["conversion_key"]}
    return next(
        ({"value": in_currency(value, code), "currency": code} for value, code in reader.rows(_BEYOND, of)), None
    )


def _data(
    profile: ProfileFacts, found: Row, path: Sequence[Row], cents: Mapping[tuple[str, int], int], *, since: int
) -> dict[str, Any]:
    # a renewal's ages are those of its first payment: `since` is when that was made
    parts = values(found["conversion_id"], path, cents)
    inherited = found["inherited_from"] is not None
    touches = [
        {
            **rows.touch(row, position=place, inherited=inherited),
            "to": destination(row),
            "age_seconds": since - row["ts"],
            "weights": {model: shares(row)[model].weight for model in MODELS},
            "cents": part,
        }
        for place, (row, part) in enumerate(zip(path, parts, strict=True), start=1)
    ]
    return {
        "conversion": rows.conversion(found, profile),
        "lookback_days": profile.lookback_days,
        "half_life_days": profile.half_life_days,
        "touches": touches,
        "destinations": _destinations(path, cents),
    }


def destination(row: Row) -> str:
    """Where a touch's credit goes, in words: the finest entity it names, else the reason why there is none."""
    named = [row[name] for name in ("campaign_name", "ad_name") if row[name]]
    if named:
        return " / ".join(named)
    return " ".join(part for part in (row["reason"], row["platform"]) if part) or "entity"


def _destinations(path: Sequence[Row], cents: Mapping[tuple[str, int], int]) -> list[dict[str, Any]]:
    known = {row["destination_key"]: destination(row) for row in path}
    return [
        {"to": label, "cents": {model: cents.get((model, key), 0) for model in MODELS}} for key, label in known.items()
    ]


def _shown(profile: ProfileFacts, found: Row, data: Mapping[str, Any]) -> list[Any]:
    lines = list(_heading(profile, found, data))
    if found["path_conversion_key"] is None:
        return [*lines, "A renewal whose first payment is not known: unattributed (no_touch) under every model."]
    if not data["touches"]:
        return [*lines, "It has no path: unattributed (no_touch) under every model."]
    return [*lines, _weights(data), _money(profile, data)]


def _heading(profile: ProfileFacts, found: Row, data: Mapping[str, Any]) -> Iterator[str]:
    told = data["conversion"]
    yield f"Conversion [bold]{told['conversion_id']}[/], {told['type']}, {told['occurred_at']} (day {told['date']})"
    if found["is_cash"]:
        worth = "no known rate" if told["value"] is None else _plain(found["cash_minor"], profile)
        yield f"Net cash {worth} {profile.currency}, after {_plain(found['refunded_minor'], profile)} refunded"
        if beyond := data["refunded_beyond"]:
            yield f"{beyond['value']} {beyond['currency']} more were taken back than it was worth: they lower no figure"
    elif found["pipeline_minor"] is not None:
        yield f"Projected value {_plain(found['pipeline_minor'], profile)} {profile.currency}, split alike, never cash"
    if told["inherited_from"]:
        yield f"A renewal: its path and weights are those of the first payment, {told['inherited_from']}"
    spans = (data["lookback_days"], data["half_life_days"])
    lookback, half_life = (f"{days} day{'' if days == 1 else 's'}" for days in spans)
    yield f"Look-back {lookback}, half-life {half_life}"


def _weights(data: Mapping[str, Any]) -> Table:
    table = _table("Path and weights", ("#", "when (UTC)", "channel", "credit goes to", "age"))
    for touch in data["touches"]:
        when = datetime.fromisoformat(touch["occurred_at"]).strftime("%Y-%m-%d %H:%M:%S")
        weights = (_weight(touch["weights"][model]) for model in MODELS)
        to, age = Text(spelt(touch["to"])), _days(touch["age_seconds"])
        table.add_row(str(touch["position"]), when, touch["channel"], to, age, *weights)
    sums = (f"{sum(touch['weights'][model] for touch in data['touches']):g}" for model in MODELS)
    table.add_row("", "", "", "sum", "", *sums, style="bold")
    return table


def _money(profile: ProfileFacts, data: Mapping[str, Any]) -> Table:
    table = _table(f"Money, {profile.currency}", ("credit goes to",))
    for part in data["destinations"]:
        table.add_row(Text(spelt(part["to"])), *(_plain(part["cents"][model], profile) for model in MODELS))
    sums = (_plain(sum(part["cents"][model] for part in data["destinations"]), profile) for model in MODELS)
    table.add_row("sum", *sums, style="bold")
    return table


def _table(title: str, names: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for name in names:
        table.add_column(name, overflow="fold")
    for model in MODELS:
        table.add_column(model, justify="right", overflow="fold")
    return table


def _weight(weight: float) -> str:
    return "" if weight == 0 else f"{weight:.6f}".rstrip("0").rstrip(".")


def _days(seconds: int) -> str:
    return f"{seconds / 86_400:.4f}".rstrip("0").rstrip(".") + " d"


def _plain(minor: int, profile: ProfileFacts) -> str:
    return f"{Decimal(minor).scaleb(-profile.digits):,.{profile.digits}f}"
