"""The Flask application of one deployment."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from werkzeug.middleware.proxy_fix import ProxyFix

from api import chat_media, logos, logs, operations, patience, quoting, responses, under_way, usage
from api.code_digest import code_digest
from api.collecting import beacon
from api.collecting import routes as collecting
from api.docs_pages import pages
from api.guard import MEBIBYTE
from api.hooks import chat, payments, store
from api.http import Api, Application, Blueprint
from api.oauth import consent
from api.oauth import routes as oauth
from api.once import Once
from api.pages import by_code, connect, handoffs, invitations, shared, sign_in
from api.tracker import routes as tracker
from api.v1 import BLUEPRINTS
from touchledger.settings import Settings

PREFIX = "/api/v1"


def create_app(settings: Settings, *, more: Iterable[Blueprint] = ()) -> Application:
    """The application for these settings. `more` blueprints are served under /api/v1 beside the product's own."""
    app = Application("api", static_folder=None)
    app.url_map.merge_slashes = False
    if settings.trusted_proxies:
        # the caller's address alone: scheme and host are those of the public address, whatever a header says
        fixed = ProxyFix(app.wsgi_app, x_for=settings.trusted_proxies, x_proto=0, x_host=0)
        app.wsgi_app = fixed  # type: ignore[method-assign]
    app.config.update(
        SETTINGS=settings,
        MAX_CONTENT_LENGTH=MEBIBYTE,
        API_TITLE="Touchledger",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
    )
    app.add_template_filter(quoting.straight)
    code_digest()
    patience.shorten(settings.operational_url)
    app.before_request(logs.start_clock)
    # they run last to first: the log line sees the answer as it leaves
    app.after_request(logs.access)
    app.after_request(responses.finish)
    app.after_request(collecting.open_to_pages)
    app.after_request(usage.settle)
    app.teardown_request(under_way.finish)
    api = Api(app)
    for blueprint in (*BLUEPRINTS, *more):
        api.register_blueprint(blueprint, url_prefix=PREFIX)
    api.register_blueprint(operations.bp)
    seen = (pages.bp, consent.bp, sign_in.bp, by_code.bp, invitations.bp, handoffs.bp, connect.bp, shared.bp)
    for plain in (logos.bp, chat_media.bp, tracker.bp, oauth.bp, *seen):
        app.register_blueprint(plain)
    app.extensions["pages"] = frozenset(one.name for one in seen)
    api.register_blueprint(payments.bp)
    api.register_blueprint(store.bp)
    api.register_blueprint(chat.bp)
    api.register_blueprint(collecting.bp)
    api.register_blueprint(beacon.bp)
    # relative unless a public address is set: "Try it out" then asks the host the page came from
    server = settings.base_url if settings.public_url else "/"
    app.extensions["openapi"] = Once(partial(api.document, server=server))
    return app
