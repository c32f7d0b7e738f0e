"""The agreement on protected health information: its current text, and who signed it.

Profiles in the mode `hipaa` send nothing to anybody before somebody signed for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.models import AgreementSignature

VERSION = "2026-11"
TEXTS = {
    "en": """\
Agreement on protected health information

1. The business whose profile this is (the covered entity) lets whoever runs this deployment (the associate) handle
health information of its customers, only to measure advertising and to send conversions as configured here.
2. The associate uses and discloses that information for no other purpose, and never sells it.
3. It keeps administrative, physical and technical safeguards: access by named people and keys only, a log of every
read of personal data, and encryption wherever data leaves the deployment.
4. It reports every use or disclosure that this agreement does not allow, and every breach, without delay and within
ten days of knowing of it.
5. Whoever it passes the information on to is bound to the same terms first.
6. On request it gives access to the information, corrects it, erases it, and accounts for its disclosures.
7. When the profile is archived the information is destroyed; what the law makes it keep stays under these terms.
8. The business may end this agreement when its terms are broken. From then on nothing is sent.
""",
    "es": """\
Acuerdo sobre información médica protegida

1. El negocio al que pertenece este perfil (la entidad cubierta) permite a quien opera esta instalación (el asociado)
tratar información médica de sus clientes, solo para medir la publicidad y enviar conversiones según lo aquí
configurado.
2. El asociado no usa ni revela esa información con ningún otro fin, y nunca la vende.
3. Mantiene medidas administrativas, físicas y técnicas: acceso solo de personas y claves identificadas, un registro de
cada lectura de datos personales y cifrado siempre que los datos salen de la instalación.
4. Comunica sin demora, y antes de diez días desde que lo sepa, todo uso o revelación que este acuerdo no permita y toda
violación de seguridad.
5. Quien reciba de él la información queda antes sujeto a las mismas condiciones.
6. Cuando se le pide, da acceso a la información, la corrige, la borra y rinde cuentas de sus revelaciones.
7. Al archivar el perfil, la información se destruye; lo que la ley obligue a conservar sigue bajo estas condiciones.
8. El negocio puede poner fin a este acuerdo si se incumple. Desde entonces no se envía nada.
""",
}


def text_hash() -> str:
    """SHA-256 of the version and both texts: what a signature quotes."""
    parts = [VERSION, *(TEXTS[language] for language in sorted(TEXTS))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def signature(session: Session, profile_id: str) -> AgreementSignature | None:
    """The signature for the profile under the current text."""
    return session.scalars(_current().where(AgreementSignature.profile_id == profile_id)).one_or_none()


def signed(session: Session, profile_ids: Collection[str]) -> set[str]:
    """Those of the profiles for which the current text is signed."""
    chosen = _current().where(AgreementSignature.profile_id.in_(profile_ids))
    return {one.profile_id for one in session.scalars(chosen)}


def _current() -> sa.Select[AgreementSignature]:
    return sa.select(AgreementSignature).where(
        AgreementSignature.version == VERSION, AgreementSignature.text_hash == text_hash()
    )
