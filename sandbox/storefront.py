"""The shop's own web pages, for a person or a browser test to walk through; they carry a tracker once told of one."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import Blueprint, Flask, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response

from sandbox.ads import Ad
from sandbox.faults import CONTROL
from sandbox.money import Product, decimal_amount
from sandbox.shop import CURRENCY
from sandbox.world import World, WorldHolder

MOST_ADS = 12


@dataclass
class Storefront:
    """`tracker` is the address of the script that every page carries, or None."""

    tracker: str | None = None


def install(app: Flask, holder: WorldHolder) -> None:
    """Add the pages, and the control route that tells them of a tracker, to the sandbox."""
    face, front = Blueprint("storefront", __name__, template_folder="templates"), Storefront()
    face.app_context_processor(lambda: {"tracker": front.tracker})
    _control(face, front)
    _pages(face, holder)
    app.register_blueprint(face)


def _control(face: Blueprint, front: Storefront) -> None:
    @face.put(f"{CONTROL}/storefront")
    def carry() -> tuple[Response, int]:
        tracker = (request.get_json(silent=True) or {}).get("tracker")
        if tracker is not None and urlsplit(str(tracker)).scheme not in {"http", "https"}:
            return jsonify(error="tracker must be the address of a script, or null"), 400
        front.tracker = tracker and str(tracker)
        return jsonify(tracker=front.tracker), 200


def _pages(face: Blueprint, holder: WorldHolder) -> None:
    @face.get("/storefront/ads")
    def ads() -> str:
        return render_template("ads.html", ads=[(one, landing_query(one)) for one in shown_ads(holder.world)])

    @face.get("/storefront")
    def product() -> str:
        return render_template("product.html", **_goods(holder.world))

    @face.post("/storefront/trip")
    def ask() -> Response:
        return redirect("/storefront/asked", 303)

    @face.get("/storefront/asked")
    def asked() -> str:
        return render_template("asked.html")

    @face.get("/storefront/checkout")
    def checkout() -> str:
        return render_template("checkout.html", **_goods(holder.world))

    @face.post("/storefront/checkout")
    def order() -> Response:
        return redirect(f"/storefront/ordered?order={secrets.randbelow(10**8):08d}", 303)

    @face.get("/storefront/ordered")
    def ordered() -> str:
        return render_template("ordered.html", order=request.args.get("order", "")[:8], **_goods(holder.world))


def shown_ads(world: World) -> list[Ad]:
    """The ads that somebody can come from: the first active ones."""
    return [ad for ad in world.ads if ad.status == "ACTIVE"][:MOST_ADS]


def landing_query(ad: Ad) -> str:
    """The query of the address that a click on this ad opens: its own tags filled in, and the platform's click id."""
    filled = ad.url_tags
    for macro, value in (("campaign.id", ad.campaign_id), ("adset.id", ad.ad_set_id), ("ad.id", ad.id)):
        filled = filled.replace(f"{{{{{macro}}}}}", value)
    return f"{filled}&fbclid=sandbox.{secrets.token_urlsafe(16)}"


def _goods(world: World) -> dict[str, object]:
    sold: Product = next(one for one in world.products if one.status == "active")
    price = decimal_amount(sold.variants[0].price_minor, CURRENCY)
    return {"product": sold, "price": price, "currency": CURRENCY}
