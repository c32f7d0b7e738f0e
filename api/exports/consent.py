"""What a person accepts before ad sets are copied onto the clean dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

VERSION = "2026-11"
FRESH = timedelta(hours=24)
TEXTS = {
    "en": """\
I ask this service to copy the live ad sets of the connected ad account that optimise on the existing dataset. The
copies optimise on the clean dataset, keep audience, budget and creatives, and are created paused; once every copy
exists the originals are paused and the copies switched on. Copies begin their learning phase anew, which may raise
costs for some days. I may undo this at the platform at any time, and I am entitled to decide it for this ad account.
""",
    "es": """\
Pido a este servicio que copie los conjuntos de anuncios activos de la cuenta publicitaria conectada que optimizan con
el conjunto de datos actual. Las copias optimizan con el conjunto de datos limpio, conservan audiencia, presupuesto y
creatividades, y se crean en pausa; cuando existen todas, los originales se pausan y las copias se activan. Las copias
empiezan de nuevo su fase de aprendizaje, lo que puede elevar los costes durante unos días. Puedo deshacerlo en la
plataforma en cualquier momento y estoy facultado para decidirlo para esta cuenta publicitaria.
""",
}


def text_hashes() -> dict[str, str]:
    """SHA-256 of the version and each language's text: what an acceptance quotes."""
    return {name: hashlib.sha256(f"{VERSION}\0{text}".encode()).hexdigest() for name, text in TEXTS.items()}


def current() -> dict[str, Any]:
    """{version, text_hashes}: what error.consent tells."""
    return {"version": VERSION, "text_hashes": text_hashes()}


def is_given(consent: Mapping[str, Any] | None, at: datetime) -> bool:
    """Whether {version, text_hash, accepted_by, accepted_at} accepts the current text, within the last 24 hours."""
    if consent is None or consent["version"] != VERSION or consent["text_hash"] not in text_hashes().values():
        return False
    accepted: datetime = consent["accepted_at"]
    return at - FRESH <= accepted <= at
