"""The mail of an invitation, in the language of whoever invites."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from api.models import Invitation, User, Workspace
from api.quoting import within_a_line


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail: subject, and the same words as text and as HTML."""

    subject: str
    text: str
    html: str


_WORDS = {
    "en": {
        "subject": "{who} invites you to {where}",
        "opening": "{who} invites you to work with {where} on Touchledger.",
        "open": "Open the invitation",
        "until": "It can be accepted until {until} (UTC), by the owner of this address only.",
        "ignore": "If you did not expect this, ignore it: without your answer nothing happens.",
    },
    "es": {
        "subject": "{who} te invita a {where}",
        "opening": "{who} te invita a trabajar con {where} en Touchledger.",
        "open": "Abrir la invitación",
        "until": "Se puede aceptar hasta el {until} (UTC), y solo por quien tenga esta dirección.",
        "ignore": "Si no lo esperabas, no hagas nada: sin tu respuesta no ocurre nada.",
    },
}


def write(*, invitation: Invitation, workspace: Workspace, sender: User, url: str) -> Letter:
    """The mail that brings somebody the link to their invitation."""
    locale = sender.locale if sender.locale in _WORDS else "en"
    words = _WORDS[locale]
    facts = {
        "who": within_a_line(sender.display_name),
        "where": within_a_line(workspace.name),
        "until": f"{invitation.expires_at:%Y-%m-%d %H:%M}",
    }
    said = {name: text.format(**facts) for name, text in words.items()}
    quoted = f"“{invitation.message}”" if invitation.message else ""
    parts = [said["opening"], quoted, f"{said['open']}: {url}", said["until"], said["ignore"]]
    link = f'<a href="{escape(url)}">{escape(said["open"])}</a>'
    shown = [escape(said["opening"]), escape(quoted), link, escape(said["until"]), escape(said["ignore"])]
    body = "".join(f"<p>{part}</p>" for part in shown if part).replace("\n", "<br>")
    title = f"<title>{escape(said['subject'])}</title>"
    return Letter(
        said["subject"],
        "\n\n".join(part for part in parts if part) + "\n",
        f'<!DOCTYPE html><html lang="{locale}"><head>{title}</head><body>{body}</body></html>',
    )
