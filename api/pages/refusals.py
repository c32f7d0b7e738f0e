"""What a person reads where a browser asked for a page and gets an error, in place of the envelope for programs."""

from __future__ import annotations

from flask import Response, current_app, has_request_context, render_template, request

from api import context, errors
from api.pages.browser import STRICT

POLICY = f"{STRICT}; form-action 'none'"
MISSING = "There is no such page"
# status: title, text
TOLD = {
    400: ("That could not be read", "Your browser sent what this page does not take. Go back and try again."),
    404: (MISSING, "Its address may be cut off or misspelt: look again at where you found it."),
    405: (MISSING, "This address only takes what a form sends. Go back to where you came from."),
    413: ("That is too much", "What was sent is larger than this page takes."),
    429: ("That was tried too often", "Wait a minute, then try again."),
    503: ("That is not possible right now", "Try again in a moment. Nothing of what you sent is kept."),
}
FAILED = ("Something went wrong", "The fault is ours. If it comes again, tell whoever runs this place: {0}.")


def is_for_a_person() -> bool:
    """Whether the request is one for a page, of those there are or another, and rather read than parsed."""
    if not has_request_context():
        # what is no request of HTTP has no wishes
        return False
    if request.url_rule is None:
        is_page = not request.path.startswith("/api/")
    else:
        is_page = request.blueprint in current_app.extensions["pages"]
    # without a wish, or with one for anything, it is a program that asks
    return is_page and request.accept_mimetypes.best_match(("application/json", "text/html")) == "text/html"


def page(error: errors.ApiError, status: int) -> Response:
    """The page of a refusal, with its status and headers; a fault of ours tells the id of the request."""
    otherwise = ("That is not possible", error.message) if status < 500 else FAILED
    title, text = TOLD.get(status, otherwise)
    body = render_template("notice.html", title=title, text=text.replace("{0}", context.request_id()))
    response = Response(body, status, mimetype="text/html")
    response.headers.update(error.headers)
    response.headers.update({"Content-Security-Policy": POLICY, "X-Frame-Options": "DENY", "Vary": "Accept"})
    return response
