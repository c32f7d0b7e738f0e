"""What the ranker reads of the warehouse: weekly snapshots of scores, and daily delivery of the same ads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from orchestration.locks import only_writer
from orchestration.ranking.arrays import Floats, Ints, grouped
from orchestration.ranking.history import History
from orchestration.ranking.wear import Panel
from orchestration.warehouse_state import require_finished
from touchledger.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

WAIT_SECONDS = 600.0
LAYERS = (
    "delivery", "attention", "retention", "engagement", "click_intent", "postclick_messaging", "reply_quality",
    "platform_conversions", "attributed_pipeline", "attributed_revenue",
)  # fmt: skip
ATTRIBUTES = ("hook_type", "creative_format", "cta_type", "primary_angle")
MEASURED = ("composite", "age", "log_spend", "click_momentum", "log_frequency", "log_cohort")
# what draws the momentum of a rarely clicked or shown ad to nothing
FEW_CLICKS = 5.0
FEW_IMPRESSIONS = 500.0

SNAPSHOTS = f"""
with layers as (
    select profile_key, as_of, entity_key,
        {
    ", ".join(
        f"max(percentile) filter (layer = '{layer}') as {layer}, "
        f"max(reliability) filter (layer = '{layer}') as {layer}_reliability"
        for layer in LAYERS
    )
}
    from intermediate.int_score_history_layers
    group by all
),
days as (
    select d.profile_key, d.entity_key, d.day, d.impressions, r.reach
    from marts.delivery_daily as d
    inner join marts.entity_reach as r
        on d.profile_key = r.profile_key and d.entity_key = r.entity_key
        and r.level = 'ad' and r.date_from = d.day and r.date_to = d.day and r.reach > 0
    where d.level = 'ad'
),
frequencies as (
    select h.profile_key, h.as_of, h.entity_key, ln(sum(days.impressions) / sum(days.reach)) as log_frequency
    from intermediate.int_score_history as h
    inner join days
        on h.profile_key = days.profile_key and h.entity_key = days.entity_key
        and days.day between h.as_of - 27 and h.as_of
    group by all
    having sum(days.impressions) > 0
)
select p.profile_id, e.entity_id, h.profile_key, h.entity_key, h.as_of - date '1970-01-01' as day,
    h.cohort_channel as channel, h.cohort_objective as objective, coalesce(h.ad_account_id, '') as account,
    h.delivery_days,
    h.primary_percentile, h.primary_reliability, h.spend_minor, h.composite_score,
    {", ".join(f"l.{layer}, l.{layer}_reliability" for layer in LAYERS)},
    h.composite_score as composite, h.age_days as age, ln(1 + h.spend_minor) as log_spend,
    ln((h.clicks + {FEW_CLICKS}) / (h.impressions + {FEW_IMPRESSIONS}))
        - ln((b.clicks + {FEW_CLICKS}) / (b.impressions + {FEW_IMPRESSIONS})) as click_momentum,
    f.log_frequency, ln(h.cohort_n_ads) as log_cohort, {", ".join(f"c.{name}" for name in ATTRIBUTES)}
from intermediate.int_score_history as h
inner join marts.profiles as p on h.profile_key = p.profile_key
inner join marts.entities as e on h.profile_key = e.profile_key and h.entity_key = e.entity_key and e.level = 'ad'
left join layers as l on h.profile_key = l.profile_key and h.as_of = l.as_of and h.entity_key = l.entity_key
left join intermediate.int_score_history as b
    on h.profile_key = b.profile_key and h.entity_key = b.entity_key and b.as_of = h.as_of - 7
left join frequencies as f on h.profile_key = f.profile_key and h.as_of = f.as_of and h.entity_key = f.entity_key
left join marts.ad_creatives as c on h.profile_key = c.profile_key and h.entity_key = c.entity_key
order by p.profile_id, channel, objective, day, e.entity_id
"""  # noqa: S608

DELIVERY = """
with outcomes as (
    select profile_key, entity_key, day, sum(payment_received + custom_cash) as cash,
        sum(lead_created + appointment_booked + appointment_attended + quote_presented + closed_won
            + custom_pipeline) as pipeline
    from marts.credit_daily
    where level = 'ad' and model = 'last_touch'
    group by profile_key, entity_key, day
)
select d.profile_key, d.entity_key, d.day - date '1970-01-01' as day, d.spend_minor as spend, d.impressions,
    coalesce(r.reach, 0) as reach, coalesce(d.link_clicks, d.clicks, 0) as clicks, coalesce(o.cash, 0) as cash,
    coalesce(o.pipeline, 0) as pipeline, coalesce(d.messaging_conversations_started_7d, 0) as conversations
from marts.delivery_daily as d
left join marts.entity_reach as r
    on d.profile_key = r.profile_key and d.entity_key = r.entity_key
    and r.level = 'ad' and r.date_from = d.day and r.date_to = d.day
left join outcomes as o on d.profile_key = o.profile_key and d.entity_key = o.entity_key and d.day = o.day
where d.level = 'ad'
"""
# the outcome that may stand for a response, by objective; the others go by clicks
OUTCOMES = {"sales": "cash", "leads": "pipeline", "messaging": "conversations"}

Words = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Tables:
    """Rows of SNAPSHOTS and of DELIVERY."""

    snapshots: pd.DataFrame
    delivery: pd.DataFrame


@dataclass(frozen=True)
class Known:
    """Everything on the newest day: `ads` are the ids behind the codes of both, `roots` the groups behind theirs."""

    history: History
    panel: Panel
    # profile id and public id of the ad, by code
    ads: tuple[tuple[str, str], ...]
    # profile id, channel and objective, by code
    roots: tuple[tuple[str, str, str], ...]
    delivery_days: Ints
    words: Words

    @property
    def newest(self) -> int:
        """The last day known (days since 1970); the data decides it, not the clock."""
        return int(self.history.day.max())

    @cached_property
    def newest_of(self) -> Mapping[str, int]:
        """The last day known of each profile: not every account is synced to the same day."""
        found: dict[str, int] = {}
        for rows in grouped(self.history.root):
            profile = self.roots[self.history.root[rows[0]]][0]
            found[profile] = max(int(self.history.day[rows].max()), found.get(profile, 0))
        return found


@contextmanager
def _warehouse(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    lock = settings.home / "locks" / "warehouse.lock"
    with only_writer(lock, purpose="read the score history", wait_seconds=WAIT_SECONDS):
        # only now: a build that is going on has not finished, and may yet fail
        require_finished(settings)
        with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
            yield connection


def read(settings: Settings) -> Tables | None:
    """The warehouse's tables, or None without a score. Waits for whoever writes the warehouse."""
    with _warehouse(settings) as connection:
        tables = Tables(connection.execute(SNAPSHOTS).df(), connection.execute(DELIVERY).df())
    return tables if len(tables.snapshots) else None


def known(tables: Tables, words: Words | None = None) -> Known:
    """The arrays of both tables; `words` are the attribute values of a fitted model, else all that there are."""
    snapshots, delivery = tables.snapshots, tables.delivery
    words = words or {name: sorted(snapshots[name].dropna().unique()) for name in ATTRIBUTES}
    ad, ads = _codes(snapshots, ["profile_id", "entity_id"])
    root, roots = _codes(snapshots, ["profile_id", "channel", "objective"])
    account, _ = _codes(snapshots, ["profile_id", "channel", "account"])
    history = History(
        day=snapshots["day"].to_numpy(np.int64),
        root=root,
        ad=ad,
        names=(*_numbers(), *ATTRIBUTES),
        features=_features(snapshots, words),
        composite=snapshots["composite_score"].to_numpy(np.float64, na_value=np.nan),
        primary=snapshots["primary_percentile"].to_numpy(np.float64, na_value=np.nan),
        reliability=snapshots["primary_reliability"].to_numpy(np.float64, na_value=0.0),
        exposure=snapshots["spend_minor"].to_numpy(np.float64, na_value=0.0),
    )
    days = snapshots["delivery_days"].to_numpy(np.int64, na_value=0)
    return Known(history, _panel(snapshots, delivery, ad, root, roots, account), ads, roots, days, words)


def _numbers() -> tuple[str, ...]:
    return (*LAYERS, *(f"{layer}_reliability" for layer in LAYERS), *MEASURED)


def _features(snapshots: pd.DataFrame, words: Words) -> Floats:
    columns = [snapshots[name].to_numpy(np.float64, na_value=np.nan) for name in _numbers()]
    for name in ATTRIBUTES:
        place = {word: float(number) for number, word in enumerate(words[name])}
        columns.append(snapshots[name].map(place).to_numpy(np.float64, na_value=np.nan))
    return np.stack(columns, axis=1)


def _codes(table: pd.DataFrame, columns: list[str]) -> tuple[Ints, tuple[Any, ...]]:
    """Dense codes in the order of the names, which no change of the warehouse's keys can move."""
    names = list(table[columns].itertuples(index=False, name=None))
    distinct = sorted(set(names))
    place = {name: number for number, name in enumerate(distinct)}
    return np.array([place[name] for name in names], dtype=np.int64), tuple(distinct)


def _panel(
    snapshots: pd.DataFrame,
    delivery: pd.DataFrame,
    ad: Ints,
    root: Ints,
    roots: Sequence[tuple[str, str, str]],
    account: Ints,
) -> Panel:
    """Matrices of ad x day of the ads that were ever scored; root and account of an ad are of its newest snapshot."""
    newest = dict(zip(ad.tolist(), zip(root.tolist(), account.tolist(), strict=True), strict=True))
    of_key = dict(zip(zip(snapshots["profile_key"], snapshots["entity_key"], strict=True), ad.tolist(), strict=True))
    keys = zip(delivery["profile_key"], delivery["entity_key"], strict=True)
    row = np.array([of_key.get(key, -1) for key in keys], dtype=np.int64)
    # of another profile, in whose data a later day is whole, that day would be told half here
    through = delivery["profile_key"].map(snapshots.groupby("profile_key")["day"].max())
    kept = (row >= 0) & (delivery["day"] <= through).to_numpy()
    table, row = delivery[kept], row[kept]
    day = table["day"].to_numpy(np.int64)
    first = int(day.min()) if len(day) else int(snapshots["day"].max())
    shape = (len(newest), int(snapshots["day"].max()) - first + 1)

    def matrix(name: str) -> Floats:
        filled = np.zeros(shape)
        np.add.at(filled, (row, day - first), table[name].to_numpy(np.float64, na_value=0.0))
        return filled

    by_ad, by_account = np.array([newest[code] for code in range(len(newest))], dtype=np.int64).T
    objective = np.array([roots[code][2] for code in by_ad])
    outcomes = np.zeros(shape)
    for name, column in OUTCOMES.items():
        outcomes += matrix(column) * (objective == name)[:, None]
    return Panel(
        first=first,
        ad=np.arange(len(newest)),
        root=by_ad,
        account=by_account,
        outcomes=outcomes,
        **{name: matrix(name) for name in ("spend", "impressions", "reach", "clicks")},
    )
