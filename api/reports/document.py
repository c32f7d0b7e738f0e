"""A report as HTML, PDF or CSV. Names and branding are other people's data, and nothing is fetched."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.quoting import apart, straight
from api.reports import pdf
from api.reports.content import DEFAULT_COLORS, Cell, Content, filled
from api.reports.figures import Figures
from api.reports.labels import Words

COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
# Excel reads full-width signs as the plain ones, and skips what nobody sees before them
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
_SIGN = r"[=+\-@|%\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"{_UNSEEN}{_SIGN}|[\t\r\n]")
# where a comma is the decimal sign, Excel parts cells at semicolons, and sees no quotes around ours
IN_THE_NEXT_CELL = re.compile(rf"([;\r\n]{_UNSEEN})(?={_SIGN})")
FONTS = {"regular": "DejaVuSans.ttf", "bold": "DejaVuSans-Bold.ttf"}


@dataclass(frozen=True)
class Brand:
    """How the report looks. `logo` is bytes and mime type."""

    display_name: str
    primary_color: str | None = None
    accent_color: str | None = None
    website_url: str | None = None
    footer: str | None = None
    logo: tuple[bytes, str] | None = None

    @property
    def colors(self) -> tuple[str, str]:
        """Both colours; what is no colour gives way to ours, since they are written into a style sheet."""
        chosen = (self.primary_color or "", self.accent_color or "")
        first, second = (
            one if COLOR.fullmatch(one) else ours for one, ours in zip(chosen, DEFAULT_COLORS, strict=True)
        )
        return first, second


@dataclass(frozen=True)
class Order:
    """What is to be rendered."""

    template: str
    locale: str
    format: str
    profile_name: str
    brand: Brand


def render(order: Order, figures: Figures) -> bytes:
    """The file; the same order and figures give the same bytes. Raises `pdf.Unavailable`."""
    words = Words(order.locale)
    content = filled(order.template, figures, words, order.brand.colors)
    if order.format == "csv":
        return _csv(content)
    assets = {f"chart-{n}": (picture, "image/svg+xml") for n, (_, picture) in enumerate(content.charts)}
    if order.brand.logo is not None:
        assets["logo"] = order.brand.logo
    if order.format == "html":
        sources = {name: _data_uri(*asset) for name, asset in assets.items()}
        return _html(order, figures, content, sources, is_paged=False).encode()
    assets |= {name: (content_, "font/ttf") for name, content_ in _fonts().items()}
    sources = {name: f"asset:{name}" for name in assets}
    return pdf.written(_html(order, figures, content, sources, is_paged=True), assets)


def neutral(cell: Cell) -> Cell:
    """A cell for a spreadsheet: text that a spreadsheet would take for a formula is marked as text."""
    if not isinstance(cell, str):
        return cell
    text = IN_THE_NEXT_CELL.sub(r"\1'", cell)
    return f"'{text}" if FORMULA.match(cell) else text


def _csv(content: Content) -> bytes:
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerows([neutral(cell) for cell in row] for row in content.sheet)
    # without the mark Excel reads UTF-8 as the machine's own code page
    return ("\ufeff" + target.getvalue()).encode()


def _html(order: Order, figures: Figures, content: Content, sources: Mapping[str, str], *, is_paged: bool) -> str:
    words, brand = Words(order.locale), order.brand
    primary, accent = brand.colors
    website = brand.website_url if brand.website_url and brand.website_url.startswith("https://") else None
    return _environment().get_template("report.html").render(
        locale=order.locale,
        words=words,
        is_paged=is_paged,
        regular=sources.get("regular"),
        bold=sources.get("bold"),
        logo=sources.get("logo"),
        primary=primary,
        accent=accent,
        title=words(order.template),
        profile_name=order.profile_name,
        window=words.window(figures.window.date_from, figures.window.date_to),
        display_name=brand.display_name,
        website=website,
        website_shown=website.removeprefix("https://").rstrip("/") if website else None,
        footer=brand.footer,
        foot=brand.footer or f"{brand.display_name} · {order.profile_name}",
        columns=_columns(content),
        content=content,
        pictures=[(name, sources[f"chart-{n}"]) for n, (name, _) in enumerate(content.charts)],
    )  # fmt: skip


def _columns(content: Content) -> int:
    if len(content.headlines) % 3 == 0:
        return 3
    # four beside each other take so many signs each
    return 4 if max(len(one.value) for one in content.headlines) <= 15 else 2


@lru_cache(maxsize=1)
def _fonts() -> dict[str, bytes]:
    # matplotlib ships them, so a PDF looks the same on a machine without fonts
    folder = Path(mpl.get_data_path()) / "fonts" / "ttf"
    return {name: (folder / file).read_bytes() for name, file in FONTS.items()}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters |= {"apart": apart, "straight": straight}
    return made


def _data_uri(content: bytes, mime_type: str) -> str:
    return f"data:{mime_type};base64,{base64.b64encode(content).decode()}"
