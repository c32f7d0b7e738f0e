"""The rules at their thresholds, each side of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.recommendations.rules import KINDS, PRIMARY_LAYERS, Ad, Layer, called_for

PLAIN = Ad(
    "id", "1", "An ad", "meta", composite=50.0, stage="calibrated", objective="sales", delivery_days=20,
    spend_minor=1000, share=0.5, fair_share=0.25,
)  # fmt: skip
Layers = dict[str, tuple[float, str]]


def found(layers: Layers | None = None, **changes: Any) -> list[str]:
    given = {name: Layer(*one) for name, one in (layers or {}).items()}
    return called_for(replace(PLAIN, layers=given, **changes))


SURE, UNSURE = ("attributed_revenue", "high"), ("attributed_revenue", "medium")


@pytest.mark.parametrize(
    ("layers", "changes", "kinds"),
    [
        ({"attributed_revenue": (20, "high")}, {"composite": 25.0}, ["pause"]),
        ({"attributed_revenue": (20, "high")}, {"composite": 25.01}, []),
        ({"attributed_revenue": (20, "medium")}, {"composite": 10.0}, []),
        ({"attributed_revenue": (20, "high")}, {"composite": 10.0, "stage": "mature"}, []),
        ({"click_intent": (20, "high")}, {"composite": 10.0}, []),
        ({}, {"fatigue_tier": "high"}, ["refresh"]),
        ({}, {"fatigue_tier": "critical", "stage": "mature"}, ["refresh"]),
        ({}, {"fatigue_tier": "medium"}, []),
        ({}, {"fatigue_tier": "high", "stage": "early"}, []),
        ({}, {"response_index": 0.67}, ["refresh"]),
        ({}, {"response_index": 0.68}, []),
        ({}, {"composite": 75.0, "share": 0.49}, ["scale"]),
        ({}, {"composite": 75.0, "share": 0.5}, []),
        ({}, {"composite": 74.99, "share": 0.1}, []),
        ({}, {"composite": 75.0, "share": 0.1, "stage": "early"}, []),
        ({}, {"composite": 75.0, "share": None}, []),
        ({}, {"composite": 90.0, "share": 0.1, "fatigue_tier": "high"}, ["refresh"]),
        ({}, {"composite": 90.0, "share": 0.1, "response_index": 0.5}, ["refresh", "scale"]),
        ({"click_intent": (65, "low"), "attributed_revenue": (35, "low")}, {"stage": "mature"}, ["fix_landing"]),
        ({"click_intent": (64.9, "low"), "attributed_revenue": (35, "low")}, {}, []),
        ({"click_intent": (65, "low"), "attributed_revenue": (35.1, "low")}, {}, []),
        (
            {"click_intent": (90, "low"), "postclick_messaging": (10, "low")},
            {"objective": "messaging"},
            ["fix_landing"],
        ),
        # who pays for being seen, and is not seen for it, has no page to mend
        ({"click_intent": (90, "low"), "delivery": (10, "low")}, {"objective": "awareness"}, []),
        ({"attention": (35, "low"), "attributed_revenue": (65, "low")}, {}, ["test_variant"]),
        ({"attention": (35.1, "low"), "attributed_revenue": (65, "low")}, {}, []),
        ({"attention": (35, "low"), "attributed_revenue": (64.9, "low")}, {}, []),
        ({"attributed_revenue": (65, "low")}, {}, []),
        ({"click_intent": (90, "low"), "attributed_revenue": (5, "low")}, {"stage": "early"}, []),
        ({"attention": (5, "low"), "attributed_revenue": (90, "low")}, {"stage": "early"}, []),
        ({"attributed_revenue": (20, "high")}, {"composite": None, "share": 0.1}, []),
        ({"attention": (5, "low"), "click_intent": (90, "high")}, {"objective": "unknown"}, []),
        ({}, {"stage": "cold", "delivery_days": 14}, ["consolidate"]),
        ({}, {"stage": "cold", "delivery_days": 13}, []),
        # cold because nothing scores it, however much it spent
        ({}, {"stage": "cold", "delivery_days": 40, "composite": None, "objective": "unknown"}, []),
        ({}, {"stage": "early", "delivery_days": 30}, []),
    ],
)
def test_a_rule_holds_up_to_its_threshold(layers: Layers, changes: dict[str, Any], kinds: list[str]) -> None:
    assert found(layers, **changes) == kinds


def test_the_primary_layer_is_the_one_the_objective_is_paid_for() -> None:
    for objective, layer in PRIMARY_LAYERS.items():
        assert "pause" in found({layer: (5, "high")}, composite=5.0, objective=objective)
    assert found({"attributed_revenue": (5, "high")}, composite=5.0, objective="unknown") == []


def test_kinds_come_from_the_strongest() -> None:
    layers = {"attributed_revenue": (20.0, "high"), "click_intent": (90.0, "high")}
    assert found(layers, composite=20.0, fatigue_tier="high") == ["pause", "refresh", "fix_landing"]
    assert KINDS == ("pause", "refresh", "scale", "fix_landing", "test_variant", "consolidate")
