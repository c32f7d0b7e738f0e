"""A connection whose token its owner made is made anew by whoever operates the deployment, not at the sandbox."""

from __future__ import annotations

from api.models import Profile
from tests.api.v1.connections.test_connecting import Owner
from tests.factories import connected
from touchledger.settings import Settings


def test_nobody_is_led_to_the_sandbox_for_a_real_account(settings: Settings, owner: Owner, profile: Profile) -> None:
    real = {"is_sandbox": False, "base_url": "https://api.stripe.com", "status": "reconnect_required", "token": ""}
    lost = connected.to_payments(settings.operational_url, profile, "https://api.stripe.com", **real)
    answer = owner.keyed.post("/connections/connect", json={"provider": "payments", "reconnect_connection_id": lost.id})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "service_unavailable")
    assert "touchledger connect" in answer.get_json()["error"]["message"]
    assert answer.headers["Retry-After"] == "60"
