"""GET /conversion-sync/platform-safe/consent."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from api.error_body import ConsentNeeded, InLanguages
from api.exports import consent
from api.guard import guarded
from api.http import Blueprint
from api.scopes import Scope

bp = Blueprint("platform_safe_consent", __name__, description="What a person accepts before ad sets are copied.")


class ConsentAnswer(ConsentNeeded):
    """The current text; an acceptance quotes the version and the hash of the language that was read."""

    texts = fields.Nested(InLanguages, required=True)


@bp.route("/conversion-sync/platform-safe/consent")
@guarded(scope=Scope.EXPORTS_READ)
@bp.response(200, ConsentAnswer)
def platform_safe_consent() -> dict[str, Any]:
    """The consent text for copying ad sets

    Whoever asks POST /conversion-sync/platform-safe/target to copy ad sets sends back the version, the hash of the
    language that the person read, who accepted and when. Read it anew each time: an acceptance of another text, or of
    more than 24 hours ago, is 409 `consent_required`. This deployment copies none: what follows the consent is 501
    `not_implemented`.
    """
    return {**consent.current(), "texts": consent.TEXTS}
