"""Reports leave under the workspace's own domain once its DNS has verified it, signed; other mail never does."""

from __future__ import annotations

from api import db, mail, mail_delivery, sender_domains
from api.models import Profile
from api.reports import making
from api.roles import Role
from tests.api.v1.reports.conftest import Ask
from tests.api.v1.reports.test_reports import generate, hub
from tests.factories.mailbox import Mailbox
from touchledger.settings import Settings


def put_domain(settings: Settings, profile: Profile, status: str) -> None:
    with db.transaction(settings.operational_url) as session:
        row = sender_domains.registered(settings, profile.workspace_id, "shop.example", "reports")
        row.status = status
        session.add(row)


def send(ask: Ask, settings: Settings, profile: Profile) -> None:
    generate(ask, profile, send=True, recipients=["a@example.com"])
    making.make_due(settings)
    assert mail_delivery.deliver(settings) == 1


def test_a_report_leaves_under_the_verified_domain_and_signed(
    ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox
) -> None:
    put_domain(settings, profile, "verified")
    ask("PUT", "/branding", role=Role.ADMIN, json={"sender_name": "Ágora", "reply_to_email": "hi@agora.example"})
    send(ask, settings, profile)
    (message,) = mailbox.arrived
    assert (message["From"], message["Reply-To"]) == ("Ágora <reports@shop.example>", "hi@agora.example")
    assert "d=shop.example" in message["DKIM-Signature"]
    assert "reply-to" in message["DKIM-Signature"]
    assert hub(ask)["sender"]["from_address"] == "reports@shop.example"


def test_an_unverified_domain_is_not_used(ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox) -> None:
    put_domain(settings, profile, "pending")
    send(ask, settings, profile)
    assert mailbox.arrived[0]["From"] == "Touchledger <mail@deployment.example>"
    assert mailbox.arrived[0]["DKIM-Signature"] is None


def test_other_mail_leaves_under_the_deployments_own_sender(
    ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox
) -> None:
    put_domain(settings, profile, "verified")
    with db.transaction(settings.operational_url) as session:
        mail.queue(
            session, workspace_id=profile.workspace_id, to="a@example.com", kind="invitation", subject="s", text="t",
            settings=settings,
        )  # fmt: skip
    mail_delivery.deliver(settings)
    assert mailbox.arrived[0]["From"] == "Touchledger <mail@deployment.example>"
    assert mailbox.arrived[0]["DKIM-Signature"] is None


def test_a_file_carries_the_letters_of_its_profiles_name(
    ask: Ask, settings: Settings, profile: Profile, mailbox: Mailbox
) -> None:
    with db.transaction(settings.operational_url) as session:
        session.get_one(Profile, profile.id).name = "Peluquería 東京"
    body = {"profile_ids": [profile.id], "template": "pacing", "date_from": "2026-03-01", "date_to": "2026-03-02"}
    asked = ask(
        "POST", "/reports/bulk-generate", json={**body, "format": "csv", "send": True, "recipients": ["a@b.com"]}
    )
    making.make_due(settings)
    mail_delivery.deliver(settings)
    (attached,) = mailbox.arrived[0].iter_attachments()
    assert attached.get_filename() == "Peluquería-東京-pacing-2026-03-02.csv"
    number = asked.get_json()["data"]["reports"][0]["report_id"]
    told = ask("GET", f"/api/v1/reports/{number}/file").headers["Content-Disposition"]
    assert told == (
        "attachment; filename=Peluqueria-pacing-2026-03-02.csv;"
        " filename*=UTF-8''Peluquer%C3%ADa-%E6%9D%B1%E4%BA%AC-pacing-2026-03-02.csv"
    )
