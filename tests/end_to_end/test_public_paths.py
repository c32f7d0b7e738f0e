"""Real input: 86,322 touches and 19,785 payments imported, built and served; every figure adds up to the cent."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.end_to_end.command import Deployment
from tests.end_to_end.served import all_campaigns, answer, client_of

DATA = Path(__file__).resolve().parent.parent / "data" / "public_paths"
FILES = {
    "ad_accounts": "ad_accounts.csv",
    "campaigns": "campaigns.csv",
    "touches": "touches.csv.gz",
    "conversions": "conversions.csv.gz",
}
WINDOW = {"date_from": "2025-12-01", "date_to": "2026-01-31"}
PAYMENTS = 19_785
# the sum of the value column of conversions.csv.gz
TOTAL = Decimal("74820.66")
SINGLE = ("last_touch", "first_touch", "last_non_direct")
MODELS = (*SINGLE, "linear", "time_decay")


class Loaded:
    """The deployment with its profile and key."""

    def __init__(self, home: Path) -> None:
        self.deployment = Deployment(home)
        name = ("--name", "Public paths", "--timezone", "UTC", "--currency", "USD")
        self.profile = self.deployment.run_here("profile", "create", *name, "--quiet")
        self.key = self.deployment.run_here(
            "key", "mint", "--profile", self.profile, "--scope", "campaigns:read", "--quiet"
        )
        for dataset, file in FILES.items():
            self.import_file(dataset, DATA / file)
        self.deployment.run_here("build", "--quiet")
        self.client: FlaskClient = client_of(home)

    def import_file(self, dataset: str, path: Path) -> None:
        self.deployment.run_here("import", dataset, str(path), "--profile", self.profile, "--quiet")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return Loaded(tmp_path_factory.mktemp("public") / "home")


@pytest.mark.parametrize("model", MODELS)
def test_rows_and_remainder_are_all_the_money_under_every_model(loaded: Loaded, model: str) -> None:
    rows = all_campaigns(loaded.client, loaded.key, model=model, **WINDOW)
    rest = answer(loaded.client, loaded.key, "/campaigns/unattributed", model=model, **WINDOW)["data"]
    value = sum((Decimal(str(row["outcome_value"])) for row in rows), Decimal(str(rest["outcome_value"])))
    assert value == TOTAL
    assert rest["profile_total"]["outcome_count"] == PAYMENTS
    if model in SINGLE:
        assert sum(row["outcome_count"] for row in rows) + rest["outcome_count"] == PAYMENTS


def test_models_disagree_on_the_campaigns(loaded: Loaded) -> None:
    def values(model: str) -> list[tuple[str, float]]:
        rows = all_campaigns(loaded.client, loaded.key, model=model, **WINDOW)
        return sorted((row["campaign_name"], row["outcome_value"]) for row in rows)

    answers = {model: values(model) for model in MODELS}
    assert len({tuple(rows) for rows in answers.values()}) >= 4
    assert {name for name, _ in answers["linear"]} == {
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mi",
    }  # fmt: skip


def _landed(loaded: Loaded) -> dict[str, bytes]:
    raw = loaded.deployment.home / "lake" / "raw"
    files = [path for dataset in FILES for path in (raw / dataset).rglob("*.parquet")]
    return {str(path): hashlib.sha256(path.read_bytes()).digest() for path in files}


def test_loading_the_same_files_again_lands_nothing(loaded: Loaded) -> None:
    before = _landed(loaded)
    assert len(before) >= len(FILES)
    for dataset, file in FILES.items():
        loaded.import_file(dataset, DATA / file)
    assert _landed(loaded) == before
