"""Any order of inviting, taking back, accepting, waiting, removing and archiving agrees with a model of a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import time_machine
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from api import db
from api.models import User, Workspace
from tests.api.v1.members.conftest import asker
from tests.factories import accounts, people

NAMES = ("ann", "ben", "cid")
START = db.now()


@dataclass
class Known:
    """What the model knows of one invitation; `state` is pending until something else is certain."""

    id: str
    token: str
    name: str
    ends: datetime
    state: str = "pending"


class Life(RuleBasedStateMachine):
    """One workspace with its owner, three people to invite, and a clock that only goes forward."""

    client: FlaskClient
    url: str

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.now, self.is_archived, self.members = START, False, set[str]()
        self.all: list[Known] = []
        self.travel = time_machine.travel(START, tick=False)
        self.clock = self.travel.start()
        self.ask = asker(self.client)
        profile = accounts.profile(self.url)
        with db.transaction(self.url) as session:
            session.get_one(Workspace, profile.workspace_id).plan = "growth"
        self.w = f"/workspaces/{profile.workspace_id}"
        self.owner = people.user(self.url)
        people.member(self.url, self.owner, profile.workspace_id)
        self.people = {name: people.user(self.url, email=f"{name}.{db.new_id()}@example.com") for name in NAMES}

    def teardown(self) -> None:
        self.travel.stop()

    def asked(self, method: str, path: str, by: User, body: Any = None) -> tuple[str, Any]:
        """(what was answered in a word, the answer's data)."""
        answer = self.ask(method, path, people.session_of(self.url, by), body)
        if answer.status_code < 300:
            return "done", answer.get_json()["data"]
        error = answer.get_json()["error"]
        return error.get("reason") or error["code"], None

    def state_of(self, one: Known) -> str:
        return "expired" if one.state == "pending" and self.now >= one.ends else one.state

    def is_open(self, name: str) -> bool:
        return any(one.name == name and self.state_of(one) == "pending" for one in self.all)

    @rule(target=made, name=st.sampled_from(NAMES), role=st.sampled_from(["viewer", "admin"]))
    def invite(self, name: str, role: str) -> Any:
        answer, row = self.asked(
            "POST", f"{self.w}/invitations", self.owner, {"email": self.people[name].email, "role": role}
        )
        expected = (
            "not_found" if self.is_archived
            else "already_member" if name in self.members
            else "already_invited" if self.is_open(name)
            else "done"
        )  # fmt: skip
        assert answer == expected
        if answer != "done":
            return multiple()
        token = row["accept_url"].partition("#")[2]
        self.all.append(Known(row["invitation_id"], token, name, self.now + timedelta(days=14)))
        return self.all[-1]

    @rule(one=made)
    def take_back(self, one: Known) -> None:
        answer, _ = self.asked("DELETE", f"{self.w}/invitations/{one.id}", self.owner)
        words = {"pending": "done", "accepted": "already_accepted"}
        assert answer == ("not_found" if self.is_archived else words.get(self.state_of(one), "already_revoked"))
        if answer == "done":
            one.state = "revoked"

    @rule(one=made, other=st.sampled_from([0, 0, 0, 1]))
    def accept(self, one: Known, other: int) -> None:
        name = NAMES[(NAMES.index(one.name) + other) % len(NAMES)]
        answer, _ = self.asked("POST", "/invitations/accept", self.people[name], {"token": one.token})
        words = {"pending": "done", "accepted": "already_accepted", "revoked": "already_revoked"}
        closed = "workspace_archived" if self.is_archived else "invitation_expired"
        assert answer == ("email_mismatch" if name != one.name else words.get(self.state_of(one), closed))
        if answer == "done":
            one.state = "accepted"
            self.members.add(name)

    @rule(days=st.sampled_from([1, 6, 13, 14]))
    def wait(self, days: int) -> None:
        self.now += timedelta(days=days)
        self.clock.move_to(self.now)

    @precondition(lambda self: self.members and not self.is_archived)
    @rule(pick=st.randoms(use_true_random=False))
    def remove(self, pick: Any) -> None:
        name = pick.choice(sorted(self.members))
        _, rows = self.asked("GET", f"{self.w}/memberships", self.owner)
        (place,) = [row["membership_id"] for row in rows if row["email"] == self.people[name].email]
        assert self.asked("DELETE", f"{self.w}/memberships/{place}", self.owner)[0] == "done"
        self.members.remove(name)

    @precondition(lambda self: len(self.all) > 1)
    @rule()
    def archive(self) -> None:
        if self.is_archived:
            return
        _, counts = self.asked("DELETE", self.w, self.owner)
        open_ones = [one for one in self.all if self.state_of(one) == "pending"]
        assert counts["counts"]["invitations_revoked"] == len(open_ones)
        self.is_archived = True
        for one in self.all:
            if self.state_of(one) in {"pending", "expired"}:
                one.state = "closed"
        for one in self.all:
            self.accept(one, 0)

    @invariant()
    def lists_agree(self) -> None:
        answer, rows = self.asked("GET", f"{self.w}/invitations?status=all", self.owner)
        if self.is_archived:
            assert answer == "not_found"
            return
        told = {row["invitation_id"]: (row["status"], row["revoke_reason"]) for row in rows}
        words = {"revoked": ("revoked", "person"), "expired": ("revoked", "expired")}
        assert told == {one.id: words.get(self.state_of(one), (self.state_of(one), None)) for one in self.all}
        _, rows = self.asked("GET", f"{self.w}/memberships", self.owner)
        assert {row["email"] for row in rows} == {
            self.owner.email,
            *(self.people[name].email for name in self.members),
        }


def test_the_life_of_invitations_is_that_of_the_model(client: FlaskClient, url: str) -> None:
    Life.client, Life.url = client, url
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=15,
            stateful_step_count=20,
            # a step is several requests: making a failure smaller would take minutes
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
