"""Plans of a shop that runs a few hundred ads at once: several objectives, warmths, formats, ages and budgets."""

from __future__ import annotations

from random import Random

from sandbox.ad_catalogue import AWARE, LEADS, SALES, TALK, Plan

TRAFFIC = "OUTCOME_TRAFFIC"
GROUPS = (
    (SALES, "sales", 50), (LEADS, "leads", 18), (TALK, "messaging", 18), (TRAFFIC, "traffic", 8),
    (AWARE, "awareness", 6),
)  # fmt: skip
AUDIENCES = (("Broad", "cold", 50), ("Lookalike", "warm", 15), ("Engaged", "warm", 15), ("Visitors", "hot", 20))
FORMATS = (("video", 45), ("still", 35), ("carousel", 20))
# the youngest ads are this old on the world's last day
YOUNGEST = 2


def crowded_plans(seed: int, ads: int) -> tuple[Plan, ...]:
    """Campaigns of at least `ads` ads in all; budgets spread over two orders of magnitude."""
    random = Random(f"{seed}:plans")  # noqa: S311 - a repeatable world, no secret
    plans: list[Plan] = []
    planned = 0
    while planned < ads or len(plans) < 8:
        plan = _plan(random, len(plans))
        planned += sum(len(names) for *_, names in plan.ad_sets)
        plans.append(plan)
    return tuple(plans)


def _plan(random: Random, number: int) -> Plan:
    objective, group, _ = random.choices(GROUPS, [weight for *_, weight in GROUPS])[0]
    budget = round(min(12_000, max(120, random.lognormvariate(6.6, 1.0))))
    sets = tuple(_ad_set(random, number, position) for position in range(random.randint(1, 3)))
    account = 0 if random.random() < 0.7 else 1
    return Plan(account, f"{group} {number}", objective, group, "ACTIVE", budget, sets, until_days=YOUNGEST)


def _ad_set(random: Random, number: int, position: int) -> tuple[str, str, tuple[str, ...]]:
    name, warmth, _ = random.choices(AUDIENCES, [weight for *_, weight in AUDIENCES])[0]
    forms = random.choices([form for form, _ in FORMATS], [weight for _, weight in FORMATS], k=random.randint(2, 5))
    ads = tuple(f"{form} {number}.{position}.{at}" for at, form in enumerate(forms))
    return f"{name} {number}.{position}", warmth, ads
