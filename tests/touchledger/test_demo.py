from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from click import ClickException
from pydantic import SecretStr

from api.app import create_app
from api.credentials import digest
from api.db import now, transaction
from api.models import ApiKey, Connection, IngestedRecord, Profile
from sandbox.shop_records import events, packed
from sandbox.world import build
from tests.factories.deployments import migrate
from tests.fixtures.sandbox import RunningSandbox
from touchledger import demo_person
from touchledger.demo import DEMO_PROFILE_ID, Demo, DemoAheadError, OtherDemoError, ensure_demo, put_tracker_on_shop
from touchledger.settings import Settings
from touchledger.up import prepared_demo


@pytest.fixture
def settings(home: Path) -> Settings:
    settings = Settings(home=home, demo_people=150, demo_days=40)
    migrate(settings)
    return settings


def rows(settings: Settings) -> dict[str, int]:
    with transaction(settings.operational_url) as session:
        tables = (Profile, Connection, ApiKey, IngestedRecord)
        return {table.__name__: session.scalar(sa.select(sa.func.count()).select_from(table)) or 0 for table in tables}


def tree(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted((home / "inbox").rglob("*.*"))}


def test_a_second_call_changes_nothing_and_has_the_same_key(settings: Settings) -> None:
    first = ensure_demo(settings)
    counted, written = rows(settings), tree(settings.home)
    assert ensure_demo(settings).api_key == first.api_key
    assert (rows(settings), tree(settings.home)) == (counted, written)
    assert counted["Connection"] == 4
    packed = written[f"inbox/{DEMO_PROFILE_ID}/conversions/crm-deals.jsonl.gz"]
    assert packed[4:8] == bytes(4), "the hour of packing would make other bytes of the same rows"
    assert set(written) == {
        f"inbox/{DEMO_PROFILE_ID}/conversions/crm-deals.jsonl.gz",
        f"inbox/{DEMO_PROFILE_ID}/people/crm-contacts.csv",
        "inbox/_shared/fx_rates/reference-rates.csv",
    }


def test_every_event_of_the_world_is_accepted(settings: Settings) -> None:
    ensure_demo(settings)
    sent = events(build(settings.demo_seed, settings.demo_today, settings.demo_days, settings.demo_people))
    assert rows(settings)["IngestedRecord"] == sum(len(records) for records in sent.values())


def test_it_is_made_on_either_database(home: Path, database_url: str) -> None:
    settings = Settings(home=home, database_url=SecretStr(database_url), demo_people=100, demo_days=30)
    first = ensure_demo(settings)
    counted = rows(settings)
    (home / "demo.json").unlink()
    assert (ensure_demo(settings), rows(settings)) == (first, counted)


def test_the_key_is_readable_by_its_owner_alone_and_opens_the_demo(settings: Settings) -> None:
    demo = ensure_demo(settings)
    path = settings.home / "demo.key"
    assert (path.stat().st_mode & 0o777, path.read_text()) == (0o600, demo.api_key)
    assert demo.api_key not in repr(demo)
    with transaction(settings.operational_url) as session:
        key = session.scalars(sa.select(ApiKey)).one()
        assert (key.digest, key.profile_id) == (digest(demo.api_key), DEMO_PROFILE_ID)


def test_a_new_database_takes_the_key_of_the_folder(settings: Settings) -> None:
    demo = ensure_demo(settings)
    other = settings.model_copy(update={"database_url": None, "home": settings.home / "second"})
    other.home.mkdir()
    (other.home / "demo.key").write_text(demo.api_key)
    migrate(other)
    assert ensure_demo(other).api_key == demo.api_key


def test_interrupted_before_the_end_it_is_finished_by_the_next_call(settings: Settings) -> None:
    ensure_demo(settings)
    counted, written = rows(settings), tree(settings.home)
    (settings.home / "demo.json").unlink()
    (settings.home / f"inbox/{DEMO_PROFILE_ID}/people/crm-contacts.csv").unlink()
    ensure_demo(settings)
    assert (rows(settings), tree(settings.home)) == (counted, written)


def test_a_folder_with_another_worlds_demo_is_refused(settings: Settings) -> None:
    ensure_demo(settings)
    with pytest.raises(OtherDemoError, match="name another folder"):
        ensure_demo(settings.model_copy(update={"demo_seed": 8}))


def test_the_demo_of_a_version_whose_shop_sold_otherwise_is_refused(settings: Settings) -> None:
    ensure_demo(settings)
    path = settings.home / "demo.json"
    made = json.loads(path.read_text())
    path.write_text(json.dumps(made | {"world": "0" * 16}))
    with pytest.raises(OtherDemoError, match=r"another version.* name another folder"):
        ensure_demo(settings)


def test_the_version_that_made_a_refused_demo_keeps_its_database(home: Path) -> None:
    # it was brought to this version's schema first, which that version refuses
    settings = Settings(home=home, demo_people=100, demo_days=30)
    asked = {"demo_seed": "7", "demo_today": str(settings.demo_today), "demo_days": "30", "demo_people": "100"}
    (home / "demo.json").write_text(json.dumps(asked | {"world": "0" * 16}))
    with pytest.raises(ClickException, match="another version"):
        prepared_demo(settings)
    assert [path.name for path in home.iterdir()] == ["demo.json"]


def test_a_demo_that_was_made_before_worlds_were_marked_is_told_by_its_shops_export(settings: Settings) -> None:
    ensure_demo(settings)
    path, deals = settings.home / "demo.json", settings.home / f"inbox/{DEMO_PROFILE_ID}/conversions/crm-deals.jsonl.gz"
    marked = path.read_text()
    unmarked = json.loads(marked)
    del unmarked["world"]
    path.write_text(json.dumps(unmarked, indent=1))
    ensure_demo(settings)
    assert path.read_text() == marked
    path.write_text(json.dumps(unmarked, indent=1))
    deals.write_bytes(packed([]))
    with pytest.raises(OtherDemoError, match="another version"):
        ensure_demo(settings)
    deals.unlink()
    ensure_demo(settings)


def test_a_deleted_demo_is_not_brought_back(settings: Settings) -> None:
    ensure_demo(settings)
    with transaction(settings.operational_url) as session:
        session.get_one(Profile, DEMO_PROFILE_ID).archived_at = now()
    with pytest.raises(OtherDemoError, match=r"was deleted.* `touchledger serve --pipeline` for what else"):
        ensure_demo(settings)


def test_connections_follow_the_sandbox_to_another_port(settings: Settings) -> None:
    ensure_demo(settings)
    ensure_demo(settings.model_copy(update={"sandbox_port": 9999}))
    with transaction(settings.operational_url) as session:
        urls = set(session.scalars(sa.select(Connection.base_url)))
    assert urls == {f"http://127.0.0.1:9999/{name}" for name in ("meta", "shopify", "stripe")}


def test_the_marker_names_the_settings_of_the_world(settings: Settings) -> None:
    assert isinstance(ensure_demo(settings), Demo)
    assert json.loads((settings.home / "demo.json").read_text())["demo_people"] == "150"


def test_the_demos_owner_signs_in_with_the_password_of_the_state_folder(settings: Settings) -> None:
    ensure_demo(settings)
    path = settings.home / demo_person.NAME
    client = create_app(settings).test_client()
    body = {"email": demo_person.EMAIL, "password": path.read_text()}
    token = client.post("/api/v1/auth/sign-in", json=body).get_json()["data"]["token"]
    answer = client.get("/api/v1/workspaces", headers={"Authorization": f"Bearer {token}"}).get_json()
    assert [(row["name"], row["role"]) for row in answer["data"]] == [("Touchledger demo", "owner")]
    assert path.stat().st_mode & 0o777 == 0o600
    ensure_demo(settings)
    assert path.read_text() == body["password"]


def test_the_sandboxs_shop_carries_the_demos_tracker(settings: Settings, sandbox: RunningSandbox) -> None:
    demo = ensure_demo(settings)
    assert ensure_demo(settings).tracking_key == demo.tracking_key
    put_tracker_on_shop(settings.model_copy(update={"sandbox_port": int(sandbox.url.rpartition(":")[2])}), demo)
    source = f'src="{settings.base_url}/tracker.js?key={demo.tracking_key}"'
    page = httpx.get(f"{sandbox.url}/storefront", trust_env=False).text
    httpx.put(f"{sandbox.url}/__sandbox__/storefront", json={"tracker": None}, trust_env=False)
    assert source in page


def test_a_demo_whose_days_have_not_come_yet_is_refused_before_anything_is_made(settings: Settings) -> None:
    ahead = settings.model_copy(update={"demo_today": now().date() + timedelta(days=1)})
    with pytest.raises(DemoAheadError, match=r"^TOUCHLEDGER_DEMO_TODAY: .* has not come yet, .* set the clock"):
        ensure_demo(ahead)
    assert rows(settings)["Profile"] == 0
