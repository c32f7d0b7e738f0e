"""A page of the repository's documentation as HTML: headings get anchors, tables may scroll, links lead on the site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from touchledger.settings import REPOSITORY

DOCS = REPOSITORY / "docs"
# between the words of a name or the parts of a path
BREAKS = re.compile(r"(?<=[\w};][_/])(?=[^\s_/])")


@dataclass(frozen=True)
class Guide:
    """A page of `docs/` that the site shows: its name below /docs, its file, its label and what it is about."""

    name: str
    file: str
    label: str
    about: str


GUIDES = {
    guide.name: guide
    for guide in (
        Guide("api", "api.md", "Using the API", "Credentials, answers, pages, allowance, and what to do when refused."),
        Guide("routes", "routes.md", "Routes and scopes", "Who may call what; scopes, allowances and plans."),
        Guide("agents", "agents.md", "Agents and apps", "How programs that act for people are let in."),
        Guide("models", "models.md", "Models", "How credit is decided: five formulas, and a table to redo by hand."),
        Guide("tracking", "tracking.md", "Tracking", "The tracker for web sites, forms and links."),
        Guide("collector", "collector.md", "Collector", "What a page or a server sends, and what becomes of it."),
        Guide("data-sets", "data.md", "Data sets", "The files that come in and the tables that are served, by column."),
        Guide(
            "own-files", "own-files.md", "Own files", "What shops, processors and platforms export, made importable."
        ),
        Guide("sql", "sql.md", "Your own SQL", "The published figures in DuckDB, and ten questions answered so."),
        Guide("webhooks", "webhooks.md", "Webhooks", "What is told to an address of yours, signed, as it happens."),
        Guide("scores", "scores.md", "Scores", "How an ad is judged against comparable ads."),
        Guide("likelihood", "likelihood.md", "Likelihood", "Who will be among the best, and which ads wear out."),
        Guide("creatives", "creatives.md", "Creatives", "What is read of pictures, videos and their words."),
        Guide("recommendations", "recommendations.md", "Recommendations", "What the scores suggest doing, and when."),
    )
}
# where files of the repository stand on the site
PLACES = {guide.file: f"/docs/{guide.name}" for guide in GUIDES.values()} | {"errors.md": "/docs/errors"}
# a page that goes by the name of its file in the repository has a name for readers here
LABELS = {guide.file: guide.label for guide in GUIDES.values()} | {"errors.md": "Errors"}


@dataclass(frozen=True)
class Article:
    """The page's title, its headings as (anchor, text) pairs, and its body without the title."""

    title: str
    sections: tuple[tuple[str, str], ...]
    body: str


@lru_cache(maxsize=len(GUIDES))
def article(guide: Guide) -> Article:
    """The guide's file; HTML inside the Markdown is shown as text."""
    return rendered((DOCS / guide.file).read_text(encoding="utf-8"))


def rendered(text: str) -> Article:
    """An article of Markdown whose first line is its title."""
    first, _, rest = text.partition("\n")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("code_inline", _name)
    tokens = markdown.parse(rest)
    sections = _give_anchors(tokens)
    for token in tokens:
        token.children = _linked(token.children) if token.children else token.children
        # the pages' policy allows no style in the text
        if token.attrs.pop("style", None) == "text-align:right":
            token.attrs["class"] = "right"
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    body = body.replace("<pre>", '<pre class="code" tabindex="0">')
    return Article(first.lstrip("# "), tuple(sections), body)


def _name(_self: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    """A name as code, which a narrow cell may break behind an underscore or a slash, and nowhere else."""
    return f"<code>{BREAKS.sub('<wbr>', escapeHtml(tokens[at].content))}</code>"


def _give_anchors(tokens: list[Token]) -> list[tuple[str, str]]:
    sections: list[tuple[str, str]] = []
    taken = Counter[str]()
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = re.sub(r"[^a-z0-9_]+", "-", inline.content.lower()).strip("-")
            # a second heading of the same words is told apart as GitHub does
            opening.attrs["id"] = f"{anchor}-{taken[anchor]}" if taken[anchor] else anchor
            taken[anchor] += 1
            sections.append((str(opening.attrs["id"]), inline.content))
    return sections


def _linked(words: list[Token]) -> list[Token]:
    """The words of a paragraph; a link to a file that the site does not show is its text alone."""
    kept, shown = [], False
    for word in words:
        if word.type == "link_open":
            address = _address(str(word.attrs["href"]))
            shown = address is not None
            word.attrs["href"] = address or ""
        elif word.type == "text" and word.content in LABELS:
            word.content = LABELS[word.content]
        if shown or word.type not in {"link_open", "link_close"}:
            kept.append(word)
    return kept


def _address(href: str) -> str | None:
    """Where a link of the file leads on the site: of a dbt model to its entry in the data documentation.

    None where it leads to a file that the site does not show.
    """
    file, mark, anchor = href.partition("#")
    path = PurePosixPath(file)
    if path.suffix == ".sql" and "models" in path.parts:
        return f"/docs/data#!/model/model.touchledger.{path.stem}"
    if path.name in PLACES and len(path.parts) == 1:
        return PLACES[path.name] + mark + anchor
    return href if not file or "://" in href else None
