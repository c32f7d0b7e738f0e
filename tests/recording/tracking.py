"""The tracker: its keys and settings, the proof that a page carries it, and what a browser sends."""

from __future__ import annotations

from tests.recording.deployment import Place
from tests.recording.who import Who

PAGE = "https://shop.example.com/boots?utm_source=newsletter&utm_medium=email"


def keys(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    made = ask("add_tracking_key", who.key, body={"name": "Shop", "allowed_hosts": ["shop.example.com"]})
    ask("tracking_key_list", who.key)
    ask("tracking_settings", who.key)
    ask("change_tracking_settings", who.key, body={"session_idle_minutes": 30, "respect_gpc": True})
    check = ask("begin_verification", who.key, body={"url": "https://shop.example.com/"})
    seen = {"nonce": check["nonce"], "pageUrl": check["verify_url"]}
    of_shop = {"trackingKey": made["key"]}
    ask("verification_beacon", body={**of_shop, **seen})
    refused("verification_beacon", "not_found", body={**of_shop, **seen, "nonce": "0" * 32})
    refused("verification_beacon", "validation_error", body={**of_shop, **seen, "pageUrl": "shop"})
    large = {"payload": {"note": "x" * 100_000}}
    for name in ("collect", "identity_signal", "verification_beacon"):
        refused(name, "payload_too_large", body={**of_shop, **large})
    ask("verification_status", who.key, at={"verification_id": check["id"]})
    event = {
        **of_shop, "eventId": "7f0c1a52-5d1e-4c39-9b1b-0a4c8f6d2e10", "eventName": "page_view",
        "eventTimeClient": "2026-11-16T10:00:00Z", "anonymousId": "a_4e15f135b560e63b",
        "sessionId": "s_9c1d", "pageUrl": PAGE, "referrer": "https://mail.example.com/",
    }  # fmt: skip
    ask("collect", body=event)
    another = "https://another.example/"
    refused("collect", "forbidden", body={**event, "pageUrl": another})
    refused("collect", "validation_error", body={**event, "eventTimeClient": "yesterday"})
    signal = {**of_shop, "anonymousId": "a_4e15f135b560e63b", "idType": "email", "idValue": "ada@example.com"}
    signal |= {"pageUrl": PAGE, "capturedAt": "2026-11-16T10:00:04Z"}
    ask("identity_signal", body=signal)
    refused("identity_signal", "validation_error", body={**signal, "idValue": "ada"})
    refused("identity_signal", "unauthorized", body={**signal, "trackingKey": "trk_live_another"})
    refused("identity_signal", "forbidden", body={**signal, "pageUrl": another})
    refused("verification_beacon", "forbidden", body={**of_shop, **seen, "pageUrl": another})
    ask("revoke_tracking_key", who.key, at={"key_id": made["id"]})
    sent = {"collect": event, "identity_signal": signal, "verification_beacon": {**of_shop, **seen}}
    for name, body in sent.items():
        refused(name, "feature_retired", body=body)
        refused(name, "invalid_request", body=[body])


SCENES = (keys,)
