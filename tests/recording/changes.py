"""What is changed in a profile and its workspace: settings, goals, ads, payments, reports, people to forget."""

from __future__ import annotations

from api.creative_analysis import working
from api.recommendations import raising
from api.reports import making
from sandbox.chatapp import PNG
from tests.recording.deployment import Place
from tests.recording.figures import AD, CAMPAIGN, WINDOW
from tests.recording.who import Who
from touchledger.demo import DEMO_PROFILE_ID, DEMO_WORKSPACE_ID

AD_SET = "120220000000000901"
SETTINGS = {
    "lookback_days": 90, "half_life_days": 7, "inherit_recurring": True, "own_domains": ["alderfinch.example"],
    "payment_hosts": ["checkout.stripe.com"],
}  # fmt: skip
EVENT = {
    "event_name": "purchase", "timestamp": "2026-11-16T10:00:00Z", "user_traits": {"email": "ada@example.com"},
    "properties": {"order_id": "1001", "value": 129.9, "currency": "USD"},
}  # fmt: skip
TOUCHES = "touch_key,occurred_at,channel,origin\nt-1,2026-11-16T09:00:00Z,paid_social,web\n"
CREATED = {"name": "Alder & Finch EU", "timezone": "Europe/Madrid", "currency": "EUR"}


def goals(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    goal = {"display_name": "Trial started", "conversion_key": "trial_started", "revenue_type": "pipeline"}
    made = ask("add_goal", who.key, body={**goal, "source_event_names": ["trial_started"]})
    again = {**goal, "source_event_names": ["trial_started"]}
    place.recorder.refused("add_goal", "invalid_state", who.key, body=again)
    at = {"goal_id": made["goal_id"]}
    ask("change_goal", who.key, at=at, body={"source_event_names": ["trial_started", "trial_opened"]})
    ask("goal_list", who.key)
    ask("delete_goal", who.key, at=at)


def attribution(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("attribution_settings", who.key)
    ask("change_attribution_settings", who.key, body=SETTINGS)
    asked = ask("request_recompute", who.key, body={})
    ask("recompute_status", who.key, at={"recompute_id": asked["recompute_id"]})


def ads(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    campaign, ad = {"campaign_id": CAMPAIGN}, {"ad_id": AD}
    ask("pause_campaign", who.key, at=campaign, body={"note": "Out of stock"})
    ask("resume_campaign", who.key, at=campaign, body={"note": "Back in stock"})
    budget = {"budget_type": "daily", "amount_minor": 12480, "dry_run": True}
    more = {**budget, "amount_minor": 99900}
    ask("change_campaign_budget", who.key, at=campaign, body=budget)
    refused("change_campaign_budget", "budget_change_out_of_bounds", who.key, at=campaign, body=more)
    ask("pause_ad", who.key, at=ad, body={"note": "Replaced"})
    ask("resume_ad", who.key, at=ad, body={})
    ask("change_ad_set_budget", who.key, at={"ad_set_id": AD_SET}, body={**budget, "amount_minor": 6000})
    ask("scan_links", who.key, body={"platform": "meta"})
    ask("last_scan", who.key)


def creatives(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    job = ask("request_creative_analysis", who.key, at={"ad_id": AD}, body={})
    working.analyse_due(place.settings)
    ask("creative_analysis", who.key, at={"job_id": job["job_id"]})
    ask("request_creative_analysis", who.key, at={"ad_id": AD}, body={})


def recommended(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    raising.raise_due(place.settings)
    rows = ask("recommendations", who.owner, query={"limit": 1})
    rows = place.recorder.unkept("recommendations", who.owner, query={"limit": 50})
    at = [{"recommendation_id": one["recommendation_id"]} for one in rows]
    ask("apply_recommendation", who.key, at=at[0], body={"dry_run": True})
    ask("dismiss_recommendation", who.key, at=at[1], body={"reason": "The offer ends this week"})
    refused("dismiss_recommendation", "invalid_state", who.key, at=at[1], body={})
    refused("apply_recommendation", "invalid_state", who.key, at=at[1], body={})


def payments(place: Place, who: Who) -> None:
    ask, refused = place.recorder.ask, place.recorder.refused
    paid = place.recorder.unkept("payment_list", who.key, query={"limit": 1})[0]
    at = {"payment_ref": paid["payment_ref"]}
    damaged = {"amount": "10.00", "currency": paid["currency"], "note": "Damaged in transit"}
    ask("refund_payment", who.key, at=at, body=damaged)
    refused("refund_payment", "manual_refund_exists", who.key, at=at, body=damaged)
    ask("withdraw_refund", who.key, at=at)
    ask("assign_payer", who.key, at=at, body={"external_ref": who.customer})
    refused("assign_payer", "unknown_customer_ref", who.key, at=at, body={"external_ref": "crm-0"})


def sending(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("ingest_event", who.key, body=EVENT)
    keyed = {**EVENT, "properties": {**EVENT["properties"], "order_id": "1002"}}  # type: ignore[dict-item]
    place.recorder.unkept("ingest_event", who.key, body=keyed, headers={"Idempotency-Key": "order-1002"})
    ask("retract_event", who.key, at={"idempotency_key": "order-1002"})
    wrong = {**EVENT, "timestamp": "yesterday"}
    place.recorder.refused("ingest_event", "validation_error", who.key, body=wrong)
    sent = {"file": (TOUCHES.encode(), "touches.csv"), "dataset": "touches"}
    made = ask("import_upload", who.key, sent=sent, form={"file": "touches.csv", "dataset": "touches"})
    unknown = {"file": (TOUCHES.encode(), "touches.csv"), "dataset": "toches"}
    place.recorder.refused("import_upload", "validation_error", who.key, sent=unknown)
    ask("import_state", who.key, at={"import_id": made["import_id"]})
    ask("imports_of_profile", who.key, query={"limit": 1})
    tokens = {"customers": [{"external_ref": who.customer}], "ttl_days": 30, "purpose": "newsletter"}
    ask("mint_link_tokens", who.key, body=tokens)


def reports(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    wanted = {"profile_ids": [DEMO_PROFILE_ID], "template": "performance_summary", **WINDOW, "format": "html"}
    made = ask("generate_reports", who.owner, body=wanted)["reports"][0]
    at = {"report_id": made["report_id"]}
    place.recorder.refused("report_file", "not_found", who.owner, at=at)
    making.make_due(place.settings)
    ask("one_report", who.owner, at=at)
    table = place.recorder.unkept("generate_reports", who.owner, body={**wanted, "format": "csv"})["reports"][0]
    making.make_due(place.settings)
    ask("report_file", who.owner, at={"report_id": table["report_id"]})
    patch = {"template": "performance_summary", "cadence": "weekly", "weekday": 1, "hour": 8}
    body = {"profile_ids": [DEMO_PROFILE_ID], "patch": {**patch, "recipients": ["demo@example.com"]}}
    ask("schedule_reports", who.owner, body=body)
    ask("reports_hub", who.owner)
    shared = {"window": "28d", "limit": 20, "title": "Best of October", "hide_money": True, "expires_in_days": 30}
    link = ask("capture_snapshot", who.owner, body=shared)
    ask("snapshot_list", who.owner)
    ask("revoke_snapshot", who.owner, at={"snapshot_id": link["snapshot_id"]})


def looks(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("set_branding", who.owner, body={"display_name": "Alder & Finch", "primary_color": "#0B6E5F", "locale": "en"})
    logo = {"logo": (PNG, "alder-finch.png")}
    ask("upload_logo", who.owner, sent=logo, form={"logo": "alder-finch.png"})
    page = {"logo": (b"<svg/>", "alder-finch.svg")}
    place.recorder.refused("upload_logo", "invalid_content", who.owner, sent=page)
    ask("branding", who.owner)
    ask("delete_logo", who.owner)


def sender(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    place.recorder.refused("verify_sender_domain", "invalid_state", who.owner, body={})
    made = ask("register_sender_domain", who.owner, body={"domain": "mail.alderfinch.example", "local_part": "reports"})
    for record in made["records"]:
        place.zone.texts[record["host"]] = record["value"]
    ask("verify_sender_domain", who.owner, body={})
    ask("sender_domain", who.owner)
    ask("remove_sender_domain", who.owner)


def settings(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("change_profile", who.owner, body={"monthly_budget": 30000, "outcome_target": 600})
    ask("change_workspace", who.owner, body={"timezone": "America/New_York"})
    ask("change_reporting_currency", who.owner, body={"currency": "USD"})
    excluded = {"customers": [{"external_ref": who.customer}]}
    ask("replace_audience_exclusions", who.owner, body=excluded)
    found = ask("profile_agreement", who.owner)
    signed = {"version": found["version"], "text_hash": found["text_hash"]}
    signed |= {"signatory_name": "Ada Alder", "signatory_title": "Owner"}
    old = {**signed, "version": "2020-01-01"}
    place.recorder.refused("sign_agreement", "validation_error", who.owner, body=old)
    ask("sign_agreement", who.owner, body=signed)
    ask("sign_agreement", who.owner, body=signed)


def more_places(place: Place, who: Who) -> None:
    ask = place.recorder.ask
    ask("create_profile", who.owner, body={"workspace_id": DEMO_WORKSPACE_ID, **CREATED})
    second = {"name": "Second shop", "timezone": "Europe/Madrid"}
    made = ask("create_workspace", who.owner, body=second)
    ask("create_workspace", who.owner, body=second)
    at = {"workspace_id": made["workspace_id"]}
    ask("create_demo", who.owner, query=at, body={})
    ask("create_demo", who.owner, query=at, body={})
    ask("delete_demo", who.owner, query=at)
    ask("mark_healthcare_agency", who.owner, at=at, body={"healthcare_agency": True})
    ask("archive_workspace", who.owner, at=at)


def forgetting(place: Place, who: Who) -> None:
    body = {"selector": {"email": "ada@example.com"}, "reason": "subject_request", "reference": "DSR-17"}
    place.recorder.ask("erase_customer_of_a_workspace", who.owner, body=body)
    nobody = {"selector": {"external_ref": "crm-0"}, "profile_id": DEMO_PROFILE_ID}
    place.recorder.refused("erase_customer_of_a_workspace", "customer_not_found", who.owner, body=nobody)


SCENES = (
    goals, attribution, ads, creatives, recommended, payments, sending, reports, looks, sender, settings, more_places,
    forgetting,
)  # fmt: skip
