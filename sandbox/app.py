"""The sandbox: several vendors' protocols over one world, on loopback, with a fault plan and a clock."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from contextlib import suppress
from datetime import date
from typing import Any

from flask import Flask, Response, request
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from sandbox import (
    authorizing,
    chat_messages,
    chatapp,
    google_ads,
    google_live,
    google_world,
    meta_ads,
    meta_conversions,
    meta_lists,
    meta_live,
    shop,
    shopify,
    storefront,
    stripe,
    stripe_selling,
    tiktok_ads,
    tiktok_live,
    tiktok_world,
)
from sandbox.faults import CONTROL, ConnectionCut, FaultPlan, install
from sandbox.stripe_billing import Billing
from sandbox.world import WorldHolder, build
from touchledger.settings import Settings


def create_sandbox(holder: WorldHolder, bucket: shopify.Bucket | None = None) -> Flask:
    """One WSGI application with each vendor's face under its name: /meta, /shopify and so on.

    `bucket` is the cost budget of the store; None gives that of Shopify's largest plan.
    """
    app = Flask("sandbox", static_folder=None)
    app.url_map.strict_slashes = False
    plan = FaultPlan()
    install(app, plan)
    billing, live, conversions = Billing(), meta_live.Live(), meta_conversions.Conversions()
    searched = google_live.Live()
    lists, chat = meta_lists.CustomerLists(), chatapp.Chat()
    presences, tiktok_changes = tiktok_world.Presences(), tiktok_live.Live()
    faces = (
        meta_ads.blueprint(holder, live, conversions, lists, chat),
        shopify.blueprint(holder, bucket),
        stripe.blueprint(holder, billing),
        tiktok_ads.blueprint(holder, presences, tiktok_changes),
        google_ads.blueprint(holder, google_world.Shelf(), searched),
    )
    for face in faces:
        app.register_blueprint(face, url_prefix=f"/{face.name}")
    authorizing.install(app)
    _control(app, holder, plan, sorted(face.name for face in faces))
    meta_live.control(app, holder, live)
    google_live.control(app, searched)
    meta_conversions.control(app, conversions)
    meta_lists.control(app, lists)
    chatapp.control(app, chat)
    chat_messages.control(app)
    stripe_selling.control(app, billing)
    tiktok_live.control(app, holder, presences, tiktok_changes)
    storefront.install(app, holder)
    return app


def _control(app: Flask, holder: WorldHolder, plan: FaultPlan, faces: list[str]) -> None:
    @app.get(f"{CONTROL}/health")
    def health() -> dict[str, Any]:
        return {"status": "ok", "faces": faces, "as_of": holder.world.as_of.isoformat()}

    @app.get(f"{CONTROL}/shop")
    def described_shop() -> dict[str, Any]:
        files = {name: base64.b64encode(content).decode() for name, content in shop.sent(holder.world).items()}
        return {
            "name": shop.NAME,
            "timezone": shop.TIME_ZONE,
            "currency": shop.CURRENCY,
            "own_domains": shop.OWN_DOMAINS,
            "payment_hosts": shop.PAYMENT_HOSTS,
            "accounts": shop.accounts(),
            "files": files,
        }

    @app.get(f"{CONTROL}/faults")
    def faults() -> dict[str, Any]:
        return plan.state()

    @app.put(f"{CONTROL}/faults")
    def plan_faults() -> Response:
        try:
            plan.replace(request.get_json()["faults"])
        except (ValueError, TypeError, KeyError) as error:
            return _json({"error": str(error)}, 400)
        return _json(plan.state())

    @app.delete(f"{CONTROL}/faults")
    def clear_faults() -> Response:
        plan.replace([])
        return _json(plan.state())

    @app.put(f"{CONTROL}/clock")
    def set_clock() -> Response:
        try:
            holder.see_as_of(date.fromisoformat(request.get_json()["as_of"]))
        except (ValueError, TypeError, KeyError):
            return _json({"error": "as_of must be a date, YYYY-MM-DD"}, 400)
        return _json({"as_of": holder.world.as_of.isoformat()})


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, mimetype="application/json")


class _Handler(WSGIRequestHandler):
    """Keeps connections open and writes no access log: SDKs put their token in the address."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        try:
            with suppress(OSError):
                super().handle()
        except ConnectionCut:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # closed below the server's buffered files, which would otherwise keep it open
            os.close(self.connection.detach())

    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing."""


def server(app: Flask, port: int = 0) -> BaseWSGIServer:
    """A threaded server for `app` on 127.0.0.1; port 0 takes a free one. Call `serve_forever()`.

    Raises OSError when the port is taken.
    """
    with socket.create_server(("127.0.0.1", port)) as listener:
        made = make_server(
            "127.0.0.1", listener.getsockname()[1], app, threaded=True, request_handler=_Handler, fd=listener.fileno()
        )
    made.passthrough_errors = True
    return made


def serve(settings: Settings, port: int | None = None) -> None:
    """Serve the demo's world of `settings` until the process ends. Raises OSError when the port is taken."""
    world = build(settings.demo_seed, settings.demo_today, settings.demo_days, settings.demo_people)
    server(create_sandbox(WorldHolder(world)), port or settings.sandbox_port).serve_forever()
