"""A page of the repository's documentation as HTML: headings get anchors, tables may scroll, SQL links to its model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from touchledger.settings import REPOSITORY

DOCS = REPOSITORY / "docs"


@dataclass(frozen=True)
class Article:
    """The page's title, its sections as (anchor, heading) pairs, and its body without the title."""

    title: str
    sections: tuple[tuple[str, str], ...]
    body: str


@lru_cache(maxsize=8)
def article(name: str) -> Article:
    """`docs/<name>.md`; HTML inside the Markdown is shown as text."""
    return rendered((DOCS / f"{name}.md").read_text(encoding="utf-8"))


def rendered(text: str) -> Article:
    """An article of Markdown whose first line is its title."""
    first, _, rest = text.partition("\n")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(rest)
    sections = _give_anchors(tokens)
    for token in _every(tokens):
        if token.type == "link_open":
            token.attrs["href"] = _address(str(token.attrs["href"]))
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Article(first.lstrip("# "), tuple(sections), body)


def _give_anchors(tokens: list[Token]) -> list[tuple[str, str]]:
    sections = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = re.sub(r"[^a-z0-9]+", "-", inline.content.lower()).strip("-")
            opening.attrs["id"] = anchor
            if opening.tag == "h2":
                sections.append((anchor, inline.content))
    return sections


def _every(tokens: list[Token]) -> list[Token]:
    return [*tokens, *(child for token in tokens for child in token.children or ())]


def _address(href: str) -> str:
    """Where a link of the file leads on the site: a dbt model to its entry in the data documentation."""
    path = PurePosixPath(href)
    if path.suffix == ".sql" and "models" in path.parts:
        return f"/docs/data#!/model/model.touchledger.{path.stem}"
    return href
