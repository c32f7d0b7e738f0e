"""What is written to people about their account, in their language."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api import credentials, mail
from api.models import User
from touchledger.settings import Settings

# kind: language: subject, text; {token} and {address} are filled in
LETTERS = {
    "password_reset": {
        "en": (
            "Set a new password",
            "Somebody asked to set a new password for {address} at {deployment}.\n\n"
            "With this code it can be set within an hour, once, at {deployment}/reset-password/code:\n\n{token}\n\n"
            "If it was not you, nothing needs to be done: without the code nothing changes.\n",
        ),
        "es": (
            "Establecer una contraseña nueva",
            "Alguien ha pedido establecer una contraseña nueva para {address} en {deployment}.\n\n"
            "Con este código se puede establecer durante una hora, una sola vez, en "
            "{deployment}/reset-password/code:\n\n{token}\n\n"
            "Si no has sido tú, no hace falta hacer nada: sin el código nada cambia.\n",
        ),
    },
    "email_verification": {
        "en": (
            "Confirm your address",
            "{address} was used to sign up at {deployment}.\n\n"
            "This code confirms the address within an hour, at {deployment}/confirm-address:\n\n{token}\n\n"
            "If it was not you, ignore this message.\n",
        ),
        "es": (
            "Confirma tu dirección",
            "Se ha usado {address} para registrarse en {deployment}.\n\n"
            "Este código confirma la dirección durante una hora, en {deployment}/confirm-address:\n\n{token}\n\n"
            "Si no has sido tú, ignora este mensaje.\n",
        ),
    },
}


def write(session: Session, settings: Settings, *, to: User, kind: str, token: str) -> None:
    """Queue a letter with a one-time token; without a mail server nobody is written to."""
    subject, text = LETTERS[kind].get(to.locale, LETTERS[kind]["en"])
    filled = text.format(address=to.email, deployment=settings.base_url, token=token)
    mail.queue(
        session,
        workspace_id=None,
        to=to.email,
        kind=kind,
        subject=subject,
        text=filled,
        token_digest=credentials.digest(token),
        settings=settings,
    )
