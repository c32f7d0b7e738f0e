"""The data processing agreement that a workspace signs for an app: its current text, and where an app stands."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.models import DpaAcceptance

VERSION = "2026-11-01"
PUBLISHED = datetime(2026, 11, 1, tzinfo=UTC)
# how long exports go on under an older version once a new one is published
GRACE = timedelta(days=30)

STATES = ("not_accepted", "accepted", "outdated", "withdrawn")

TEXTS = {
    "en": """\
Data Processing Agreement

1. Parties and subject. The workspace that registered the app (the controller) lets this service (the processor) process
personal data of the visitors, leads and customers of every profile that the app provisions, in order to attribute
outcomes to advertising and to export outcomes to the destinations that are switched on for a profile.
2. Duration. The agreement holds from its acceptance until it is withdrawn, or until the app's last profile is archived.
3. Data. Identifiers (e-mail address, phone number, device, click and customer ids), visits, events, orders, payments
and refunds. Special categories of data are processed only for profiles in a healthcare privacy mode, and only within
its limits.
4. Instructions. The processor acts on the controller's documented instructions only. Settings, imports, API calls and
switched-on destinations are such instructions. It says so without delay when it holds an instruction to be unlawful.
5. Confidentiality. Whoever handles the data on the processor's side is bound to secrecy.
6. Security. Credentials are kept as digests, connections are encrypted, access follows roles and is logged, and
identifiers are hashed before they leave towards an advertising platform.
7. Further processors. Destinations that the controller switches on receive data on the controller's own account. Other
further processors are announced 30 days ahead, and the controller may object.
8. Rights of the persons. The processor helps to answer requests for access, rectification and erasure; an erasure
removes the person from stored rows, files and published figures.
9. Breaches. The processor reports a breach of personal data without undue delay, at the latest within 48 hours of
learning of it, with what the controller needs for its own notification.
10. End. After the end the data is deleted together with the profile, unless the law demands that it be kept.
11. Evidence. The processor makes available what is needed to show that these duties are kept, and supports audits.
12. Withdrawal. The controller may withdraw at any time; exports of the app's profiles then stop at once.
""",
    "es": """\
Acuerdo de tratamiento de datos

1. Partes y objeto. El espacio de trabajo que registró la aplicación (el responsable) permite que este servicio (el
encargado) trate datos personales de visitantes, contactos y clientes de cada perfil que la aplicación aprovisiona, para
atribuir resultados a la publicidad y exportarlos a los destinos activados en cada perfil.
2. Duración. El acuerdo rige desde su aceptación hasta su retirada, o hasta que se archive el último perfil de la
aplicación.
3. Datos. Identificadores (correo electrónico, teléfono, identificadores de dispositivo, de clic y de cliente), visitas,
eventos, pedidos, pagos y reembolsos. Las categorías especiales de datos se tratan solo en perfiles con un modo de
privacidad sanitario y dentro de sus límites.
4. Instrucciones. El encargado actúa solo según las instrucciones documentadas del responsable. Son instrucciones los
ajustes, las importaciones, las llamadas a la API y los destinos activados. Si considera ilícita una instrucción, lo
comunica sin demora.
5. Confidencialidad. Quien maneja los datos por parte del encargado está obligado al secreto.
6. Seguridad. Las credenciales se guardan como resúmenes, las conexiones se cifran, el acceso sigue los roles y queda
registrado, y los identificadores se transforman en resúmenes antes de salir hacia una plataforma publicitaria.
7. Otros encargados. Los destinos que el responsable activa reciben datos por cuenta del propio responsable. Los demás
encargados se anuncian con 30 días de antelación y el responsable puede oponerse.
8. Derechos de las personas. El encargado ayuda a responder a las solicitudes de acceso, rectificación y supresión; una
supresión retira a la persona de las filas guardadas, los ficheros y las cifras publicadas.
9. Incidentes. El encargado comunica toda violación de datos personales sin dilación indebida y a más tardar 48 horas
después de conocerla, con lo que el responsable necesita para su propia notificación.
10. Fin. Terminado el acuerdo, los datos se suprimen junto con el perfil, salvo que la ley obligue a conservarlos.
11. Pruebas. El encargado pone a disposición lo necesario para demostrar el cumplimiento y facilita auditorías.
12. Retirada. El responsable puede retirar su aceptación en todo momento; las exportaciones de los perfiles de la
aplicación cesan entonces de inmediato.
""",
}

# SHA-256 of the English text followed by the Spanish one, in UTF-8
TEXT_HASH = hashlib.sha256((TEXTS["en"] + TEXTS["es"]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an app stands: one of `STATES`, and the newest signature if there is any."""

    state: str
    signature: DpaAcceptance | None = None

    def is_gated(self, at: datetime) -> bool:
        """Whether exports of the app's profiles are held back at a moment."""
        if self.state == "outdated":
            return at >= PUBLISHED + GRACE
        return self.state != "accepted"


def standing(session: Session, app_id: str) -> Standing:
    """Where an app stands with the agreement."""
    return standings(session, [app_id])[app_id]


def standings(session: Session, app_ids: list[str]) -> dict[str, Standing]:
    """Where each app stands with the agreement."""
    chosen = sa.select(DpaAcceptance).where(DpaAcceptance.app_id.in_(app_ids)).order_by(DpaAcceptance.id)
    # ids ascend in time: the newest signature of an app comes last
    newest = {one.app_id: one for one in session.scalars(chosen)}
    return {app_id: _standing(newest.get(app_id)) for app_id in app_ids}


def _standing(signature: DpaAcceptance | None) -> Standing:
    if signature is None:
        return Standing("not_accepted")
    if signature.withdrawn_at is not None:
        return Standing("withdrawn", signature)
    return Standing("accepted" if signature.version == VERSION else "outdated", signature)
