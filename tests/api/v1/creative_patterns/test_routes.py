"""The three pattern reads over a workspace: counts by hand, whose ads count, and who may ask."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from api import db
from api.models import Profile
from api.roles import Role
from api.scopes import Scope
from api.snapshot import snapshots
from tests.api.v1.workspaces.conftest import Ask, as_role, ask, data, owner, refusal, session, url, w
from tests.factories import accounts, served
from touchledger.settings import Settings

__all__ = ["as_role", "ask", "owner", "session", "url", "w"]

PATHS = ("/creative-archetypes", "/creative-patterns", "/creative-patterns/dimensions")
QUESTION = {"hook_type": "question", "creative_format": "static", "primary_angle": "price", "cta_type": "shop_now"}
NUMBER = {"hook_type": "number", "creative_format": "ugc_video", "primary_angle": "quality", "cta_type": "learn_more"}

Rows = dict[str, list[dict[str, Any]]]


class Ads:
    """Tables of a snapshot, ad by ad."""

    def __init__(self) -> None:
        self.rows: Rows = {name: [] for name in ("profiles", "entities", "ad_creatives", "ad_scores")}

    def profile(self, key: int, of: Profile) -> None:
        facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v"}
        self.rows["profiles"].append({"profile_key": key, "profile_id": of.id, **facts})

    def ad(self, key: int, score: float | None, shown: dict[str, Any] | None = None, **scored: Any) -> str:
        number = len(self.rows["entities"]) + 1
        own = {"profile_key": key, "entity_key": number}
        id_ = f"{number:08d}-0000-8000-8000-000000000000"
        self.rows["entities"].append({**own, "level": "ad", "entity_id": id_, "platform_id": f"ad{number:03d}"})
        if shown is not None:
            self.rows["ad_creatives"].append({**own, "format": "image", **shown})
        plain: dict[str, Any] = {"score_window": "28d", "maturity_stage": "mature", "cohort_objective": "sales"}
        plain |= {"score_date": date(2026, 3, 28), "day_from": date(2026, 3, 1)}
        self.rows["ad_scores"].append({**own, **plain, "composite_score": score, **scored})
        return f"ad{number:03d}"


@pytest.fixture
def ads(profile: Profile) -> Ads:
    """Thirty ads: ten questions of which seven win, twenty numbers of which two do; and some that do not count."""
    made = Ads()
    made.profile(1, profile)
    for n in range(10):
        made.ad(1, 75.0 + n if n < 7 else 74.99, {**QUESTION, "offers": json.dumps(["bundle"] if n < 6 else [])})
    for n in range(20):
        made.ad(1, 90.0 if n < 2 else 40.0, {**NUMBER, "video_id": "v"}, maturity_stage="calibrated")
    for stage in ("cold", "early"):
        made.ad(1, 99.0, QUESTION, maturity_stage=stage)
    made.ad(1, None, QUESTION)
    made.ad(1, 99.0, QUESTION, score_window="7d")
    return made


@pytest.fixture
def published(settings: Settings, ads: Ads) -> Iterator[Callable[[], None]]:
    served.publish(settings.published, ads.rows)

    def again() -> None:
        served.publish(settings.published, ads.rows, token=2)

    yield again
    snapshots(settings).close()


@pytest.fixture
def more(url: str, profile: Profile) -> list[Profile]:
    """Two more profiles of the workspace."""
    with db.transaction(url) as unit:
        made = [
            Profile(workspace_id=profile.workspace_id, name=f"P{n}", timezone="UTC", reporting_currency="USD")
            for n in range(2)
        ]
        unit.add_all(made)
    return made


def test_archetypes_are_counted_and_judged_by_hand(ask: Ask, session: str, w: str, published: object) -> None:
    found = data(ask("GET", f"{w}/creative-archetypes", session))
    assert found["score_window"] == "28d"
    # p0 = 9/30; (7 + 6) / 30, and P(X >= 7 | 10, .3) = .0106 is under .1 x 1/2
    assert found["archetypes"][0] == {
        "archetype_key": "question|static|price", "hook_type": "question", "creative_format": "static",
        "primary_angle": "price", "label": "question, static, price", "n_ads": 10, "n_winners": 7, "n_profiles": 1,
        "win_rate": 0.4333, "raw_win_rate": 0.7, "workspace_baseline_win_rate": 0.3, "lift_vs_workspace": 0.44444444,
        "confidence_interval_low": 0.2869, "confidence_interval_high": 0.5797, "verdict": "confirmed",
        "exemplar_ad_external_ids": ["ad007", "ad006", "ad005", "ad004", "ad003"],
    }  # fmt: skip
    other = found["archetypes"][1]
    assert (other["archetype_key"], other["n_ads"], other["n_winners"]) == ("number|ugc_video|quality", 20, 2)
    assert (other["win_rate"], other["lift_vs_workspace"], other["verdict"]) == (0.2, -0.33333333, "inconclusive")
    assert other["exemplar_ad_external_ids"] == ["ad011", "ad012"]
    assert len(found["archetypes"]) == 2


def test_dimensions_list_values_of_five_ads_and_several_offers_each(
    ask: Ask, session: str, w: str, published: object
) -> None:
    found = data(ask("GET", f"{w}/creative-patterns/dimensions", session))["dimensions"]
    counted = {
        one["dimension"]: [(row["value"], row["sample_n"], row["winner_n"]) for row in one["values"]] for one in found
    }
    assert counted == {
        "hook_type": [("question", 10, 7), ("number", 20, 2)],
        "creative_format": [("static", 10, 7), ("ugc_video", 20, 2)],
        "cta_type": [("shop_now", 10, 7), ("learn_more", 20, 2)],
        "primary_angle": [("price", 10, 7), ("quality", 20, 2)],
        "offer": [("bundle", 6, 6)],
        "format": [("image", 30, 9)],
        "has_video": [("false", 10, 7), ("true", 20, 2)],
        "objective": [("sales", 30, 9)],
    }
    assert {row["verdict"] for one in found for row in one["values"] if row["sample_n"] == 10} == {"confirmed"}


def test_an_ad_whose_creative_is_not_synced_is_not_said_to_show_no_video(
    ask: Ask, session: str, w: str, ads: Ads, published: Callable[[], None]
) -> None:
    # the mart has a row for it, with all of the creative null
    for _ in range(5):
        ads.ad(1, 80.0, {"format": None})
    published()
    found = data(ask("GET", f"{w}/creative-patterns/dimensions", session))["dimensions"]
    told = {one["dimension"]: [(row["value"], row["sample_n"]) for row in one["values"]] for one in found}
    assert sorted(told["has_video"]) == [("false", 10), ("true", 20)]
    assert (told["format"], told["objective"]) == ([("image", 30)], [("sales", 35)])


def test_patterns_are_pairs_of_at_least_the_size_asked_for(ask: Ask, session: str, w: str, published: object) -> None:
    found = data(ask("GET", f"{w}/creative-patterns", session))
    assert found["min_cluster_size"] == 8
    pairs = {
        (row["pattern_dim"], row["pattern_value"]): (row["sample_n"], row["winner_n"]) for row in found["patterns"]
    }
    assert pairs["hook_type×cta_type", "question|shop_now"] == (10, 7)
    assert pairs["primary_angle×objective", "quality|sales"] == (20, 2)
    assert ("hook_type×offer", "question|bundle") not in pairs
    assert not [one for one in pairs if one[0] == "format×has_video"]
    smaller = data(ask("GET", f"{w}/creative-patterns", session, query_string={"min_cluster_size": "6"}))["patterns"]
    (bundle,) = [row for row in smaller if row["pattern_dim"] == "hook_type×offer"]
    assert (bundle["pattern_value"], bundle["pattern_label"]) == ("question|bundle", "question + bundle")
    assert (bundle["sample_n"], bundle["winner_n"], bundle["n_profiles"]) == (6, 6, 1)


def test_with_three_profiles_only_what_ran_in_three_is_told(
    ask: Ask, session: str, w: str, published: Callable[[], None], ads: Ads, more: list[Profile]
) -> None:
    for key, other in enumerate(more, start=2):
        ads.profile(key, other)
        for _ in range(5):
            ads.ad(key, 90.0, QUESTION)
    published()
    (found,) = data(ask("GET", f"{w}/creative-archetypes", session))["archetypes"]
    assert (found["hook_type"], found["n_ads"], found["n_winners"], found["n_profiles"]) == ("question", 20, 17, 3)
    # those two profiles always win: (10 x .3 + 5 + 5) / 20
    assert found["workspace_baseline_win_rate"] == 0.65
    named = {"profile_ids": ",".join(one.id for one in more)}
    two = data(ask("GET", f"{w}/creative-archetypes", session, query_string=named))["archetypes"]
    assert [(one["n_ads"], one["n_profiles"], one["lift_vs_workspace"]) for one in two] == [(10, 2, 0.0)]


def test_another_window_has_ads_of_its_own(ask: Ask, session: str, w: str, published: object) -> None:
    found = data(ask("GET", f"{w}/creative-archetypes", session, query_string={"window": "7d"}))
    (row,) = found["archetypes"]
    assert (row["n_ads"], row["n_winners"], row["verdict"]) == (1, 1, "inconclusive")


@pytest.mark.parametrize("path", PATHS)
def test_a_known_answer_is_not_sent_again(ask: Ask, session: str, w: str, published: object, path: str) -> None:
    first = ask("GET", w + path, session)
    assert first.get_json()["meta"]["snapshot_id"]
    tag = {"If-None-Match": first.headers["ETag"]}
    assert ask("GET", w + path, session, headers=tag).status_code == 304
    assert ask("GET", w + path, session, headers=tag, query_string={"window": "7d"}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_before_the_first_snapshot_there_is_nothing_and_no_error(ask: Ask, session: str, w: str, path: str) -> None:
    answer = ask("GET", w + path, session)
    rows = data(answer)[path.rpartition("-")[2].rpartition("/")[2]]
    assert not [one for one in rows if one.get("values", True)]
    assert answer.get_json()["meta"]["snapshot_id"] is None


@pytest.mark.parametrize("path", PATHS)
def test_guests_see_their_profiles_and_strangers_nothing(
    ask: Ask, as_role: Callable[..., str], w: str, url: str, published: object, path: str, more: list[Profile]
) -> None:
    guest = as_role(Role.GUEST)
    assert ask("GET", w + path, guest).status_code == 200
    theirs = {"query_string": {"profile_ids": more[0].id}}
    assert refusal(ask("GET", w + path, guest, **theirs))[:2] == (404, "not_found")
    elsewhere = accounts.profile(url, name="Other")
    assert refusal(ask("GET", f"/workspaces/{elsewhere.workspace_id}{path}", guest))[:2] == (404, "not_found")
    key = accounts.secret(url, more[0], scopes=list(Scope))
    assert refusal(ask("GET", w + path, key)) == (403, "forbidden", "api_key_not_allowed")


@pytest.mark.parametrize(
    "query",
    [
        {"window": "30d"},
        {"min_cluster_size": "1"},
        {"min_cluster_size": "501"},
        {"profile_ids": "x"},
        {"dimension": "hook"},
    ],
)
def test_a_malformed_query_is_refused(ask: Ask, session: str, w: str, query: dict[str, str]) -> None:
    answer = ask("GET", f"{w}/creative-patterns", session, query_string=query)
    assert refusal(answer)[:2] == (400, "invalid_parameter")
