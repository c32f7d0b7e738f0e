"""The score once more, in plain Python from the records of a world; docs/scores.md is its only source."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from math import ceil, exp, floor, sqrt

from tests.dbt_project.score_worlds import Ad, World

WINDOWS = {"7d": 7, "14d": 14, "28d": 28, "lifetime": None}
PIPELINE = ("lead_created", "appointment_booked", "appointment_attended", "quote_presented", "closed_won")
CV = {
    "delivery": 0.25, "attention": 0.25, "retention": 0.30, "engagement": 0.50, "click_intent": 0.35,
    "postclick_messaging": 0.50, "reply_quality": 0.25, "platform_conversions": 0.60, "attributed_pipeline": 0.60,
    "attributed_revenue": 0.60,
}  # fmt: skip
BINOMIAL = ("attention", "retention", "click_intent", "reply_quality")
WEIGHTS = {
    "sales": (0.08, 0.05, 0.05, 0, 0.17, 0, 0, 0.10, 0.10, 0.45),
    "leads": (0.08, 0.05, 0.05, 0, 0.17, 0, 0, 0.10, 0.45, 0.10),
    "messaging": (0.08, 0.05, 0.05, 0, 0.12, 0.40, 0.05, 0, 0.15, 0.10),
    "traffic": (0.30, 0.10, 0.05, 0.05, 0.50, 0, 0, 0, 0, 0),
    "awareness": (0.35, 0.30, 0.20, 0.10, 0.05, 0, 0, 0, 0, 0),
    "unknown": (0,) * 10,
}


@dataclass
class Row:
    """One ad in one window: (events, exposure) per layer, then (percentile, reliability) per layer."""

    ad: Ad
    cohort: tuple[str, ...]
    evidence: dict[str, tuple[float, float]]
    orders: list[int]
    layers: dict[str, tuple[float, float]]
    spend: int
    outcomes: Counter[str]

    @property
    def weights(self) -> dict[str, float]:
        weights = dict(zip(CV, WEIGHTS[self.ad.objective], strict=True))
        return {layer: weights[layer] for layer in self.layers}

    @property
    def coverage(self) -> float:
        return sum(self.weights.values())

    def mean(self, part: int) -> float | None:
        """Weighted mean of the percentiles (0) or of the reliabilities (1)."""
        if not self.coverage:
            return None
        return sum(w * self.layers[layer][part] for layer, w in self.weights.items()) / self.coverage


def score(worlds: Sequence[World], world: World, window: str, as_of: date) -> dict[str, Row]:
    """Every ad of a world with spend or impressions in the window, by id."""
    length = WINDOWS[window]
    first = as_of - timedelta(days=length - 1) if length else date.min
    lags = _lags(worlds, world)
    rows = {
        ad.id: _row(world, ad, first, as_of, lags)
        for ad in world.ads
        if any(first <= day <= as_of and (f["spend"] or f["impressions"]) for day, f in ad.days.items())
    }
    roots = defaultdict(list)
    for row in rows.values():
        roots[row.ad.platform, row.ad.objective].append(row)
    for root in roots.values():
        _reach(root, first, as_of)
        for layer in CV:
            _layer(layer, [row for row in root if layer in row.evidence])
    return rows


def _lags(worlds: Sequence[World], world: World) -> list[int]:
    def of(some: Iterable[World]) -> list[int]:
        return [floor(sale.seconds / 86_400 + 0.5) for one in some for sale in one.sales if sale.ad]

    own = of([world])
    if len(own) >= 50:
        return own
    pool = of(one for one in worlds if one.workspace == world.workspace)
    return pool if len(pool) >= 50 else []


def _row(world: World, ad: Ad, first: date, as_of: date, lags: list[int]) -> Row:
    days = {day: figures for day, figures in ad.days.items() if first <= day <= as_of}
    # a lifetime begins with the profile's first day of delivery
    begin = max(first, min(day for one in world.ads for day in one.days))
    sales = [sale for sale in world.sales if sale.ad == ad.id and begin <= sale.day <= as_of]
    matured = sum((_matured(f["spend"] * world.times, as_of - day, lags) for day, f in days.items()), Decimal(0))

    def total(*names: str) -> float:
        return float(sum(Decimal(figures[name] or 0) for figures in days.values() for name in names))

    spend, shown = total("spend") * world.times, total("impressions")
    clicks = sum(f["clicks"] if f["link_clicks"] is None else f["link_clicks"] for f in days.values())
    views, chats = total("video_3s_views"), total("messaging_conversations_started_7d")
    payments = [sale for sale in sales if sale.kind == "payment_received"]
    evidence = {
        "delivery": (shown, spend),
        "attention": (views, shown),
        "retention": (total("video_15s_views"), views),
        "engagement": (total("reactions", "comments", "shares", "saves"), shown),
        "click_intent": (clicks, shown),
        "postclick_messaging": (chats, spend),
        "reply_quality": (total("messaging_first_replies"), chats),
        "platform_conversions": (total("platform_conversions"), float(matured)),
        "attributed_pipeline": (sum(sale.kind in PIPELINE for sale in sales), float(matured)),
        "attributed_revenue": (len(payments), float(matured)),
    }
    if ad.format != "video":
        del evidence["attention"], evidence["retention"]
    orders = [sale.cents * world.times for sale in payments if sale.is_priced]
    outcomes = Counter(sale.kind for sale in sales)
    return Row(ad, _cohort(ad, first, as_of), evidence, orders, {}, round(spend), outcomes)


def _matured(cents: int, age: timedelta, lags: list[int]) -> Decimal:
    share = sum(lag <= age.days for lag in lags) / len(lags) if lags else 1.0
    return Decimal(cents * share).quantize(Decimal("0.00000001"), ROUND_HALF_UP)


def _cohort(ad: Ad, first: date, as_of: date) -> tuple[str, ...]:
    shown: dict[str, Counter[str]] = defaultdict(Counter)
    for day, dimension, value, impressions in ad.splits:
        if first <= day <= as_of:
            shown[dimension][value] += impressions

    def most(dimension: str) -> str:
        if not shown[dimension].total():
            return "unknown"
        ((value, n),) = shown[dimension].most_common(1)
        return value if n >= 0.6 * shown[dimension].total() else "mixed"

    warmth = ad.warmth or most("audience")
    return (ad.platform, ad.format, ad.objective, warmth, most("geo"), most("placement"))


def _reach(root: list[Row], first: date, as_of: date) -> None:
    reached = [row.ad.reach.get((first, as_of)) for row in root]
    if root[0].ad.objective == "awareness" and None not in reached:
        for row, reach in zip(root, reached, strict=True):
            row.evidence["delivery"] = (float(reach or 0), row.evidence["delivery"][1])


def _layer(layer: str, rows: list[Row]) -> None:
    # events without exposure have no rate
    told = [row.evidence[layer] if row.evidence[layer][1] else (0.0, 0.0) for row in rows]
    events, exposure = sum(k for k, _ in told), sum(e for _, e in told)
    if events < 5 or len(rows) < 2 or exposure <= 0:
        return
    scale = 1 / (1 - min(events / exposure, 0.9)) if layer in BINOMIAL else 1.0
    k, e = [one * scale for one, _ in told], [one * scale for _, one in told]
    usual = means([row.cohort for row in rows], k, e, 1 / CV[layer] ** 2)
    x = [one * mean for one, mean in zip(e, usual, strict=True)]
    cv2 = spread([row.cohort for row in rows], k, x, CV[layer] ** 2)
    values = _order_values(rows) if layer == "attributed_revenue" else None
    for index, row in enumerate(rows):
        value = (values[index], len(row.orders)) if values else None
        row.layers[layer] = (percentile(k[index], x[index], cv2, value), x[index] / (x[index] + 1 / cv2))


def means(cohorts: list[tuple[str, ...]], k: list[float], e: list[float], a: float) -> list[float]:
    """The usual rate of each ad's cohort, drawn to those of the wider groups around it."""
    mean = [sum(k) / sum(e)] * len(k)
    for rung, parts in enumerate((1, 2, 4, 5, 6)):
        pseudo = 3 if rung else 0
        # an objective is one in its root: the groups are root, format, warmth, geo, placement
        keys = [cohort[:parts] for cohort in cohorts]
        above: dict[tuple[str, ...], float] = defaultdict(float)
        below: dict[tuple[str, ...], float] = defaultdict(float)
        for key, ki, ei, mu in zip(keys, k, e, mean, strict=True):
            above[key] += mu * ki / (ei * mu + a)
            below[key] += ei * mu / (ei * mu + a)
        mean = [(pseudo * mu + above[key]) / (pseudo + below[key]) for key, mu in zip(keys, mean, strict=True)]
    return mean


def spread(cohorts: list[tuple[str, ...]], k: list[float], x: list[float], default: float) -> float:
    """Relative variance between ads."""
    a = 1 / default
    rel = [xi / (xi + a) for xi in x]
    group: dict[tuple[str, ...], float] = defaultdict(float)
    for cohort, one in zip(cohorts, rel, strict=True):
        group[cohort] += one
    seen = chance = freedom = weight = 0.0
    for cohort, one, ki, xi in zip(cohorts, rel, k, x, strict=True):
        if xi > 0:
            w, h = one * xi / (xi + 0.5), one / (3 + group[cohort])
            seen += w * (ki / xi - 1) ** 2
            chance += w / xi * (1 - h)
            freedom += w * (1 - h)
            weight += w
    found = min(max((seen - chance) / freedom, 0.0025), 1)
    return (10 * default + weight * found) / (10 + weight)


def _order_values(rows: list[Row]) -> list[float]:
    orders = sorted(value for row in rows for value in row.orders)
    if not orders:
        return [0.0 for _ in rows]
    cap = orders[ceil(0.95 * len(orders)) - 1]
    capped = [[min(value, cap) for value in row.orders] for row in rows]
    mean = sum(sum(one) for one in capped) / len(orders)
    return [sum(one) / mean for one in capped]


def percentile(k: float, x: float, cv2: float, value: tuple[float, int] | None) -> float:
    """0 to 100; `value` = value of the orders in mean orders of the root, and of how many it is known, for revenue."""
    a, g = 1 / cv2, x / (x + 0.5)
    r, s0, s1 = (a + k * g) / (a + x * g), a, a + k * g
    if value is not None:
        kv, (worth, known) = 0.5 / 0.04, value
        r *= (kv + g * worth) / (kv + g * known)
        s0, s1 = 1 / (cv2 + 0.04), 1 / (1 / s1 + 0.04 * (1 - known * g / (known * g + kv)))
    root = r ** (1 / 3)
    z = (root * (1 - 1 / (9 * s1)) - (1 - 1 / (9 * s0))) / sqrt(root**2 / (9 * s1) + 1 / (9 * s0))
    return 100 * normal(z)


def normal(z: float) -> float:
    """The normal distribution function, by formula 26.2.17 of Abramowitz and Stegun."""
    t = 1 / (1 + 0.2316419 * abs(z))
    poly = 0.319381530 * t - 0.356563782 * t**2 + 1.781477937 * t**3 - 1.821255978 * t**4 + 1.330274429 * t**5
    tail = 0.3989422804014327 * exp(-z * z / 2) * poly
    return tail if z < 0 else 1 - tail
