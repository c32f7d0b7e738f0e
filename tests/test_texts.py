"""What documents and descriptions name is there: pages and their sections, commands, targets, routes, names of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from touchledger.cli import main

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "api",
    "benchmarks",
    "connectors",
    "data_contracts",
    "dbt_project",
    "orchestration",
    "sandbox",
    "touchledger",
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# of other programs and of what somebody else writes: what these are called stands nowhere in our code
FOREIGN = frozenset(
    {
        "invalid_token",
        "statement_timeout",
        "DBT_FULL_REFRESH",
        "DBT_EMPTY",
        "allocator_flush_threshold",
        "TieredStopAtLevel",
    }
    | {
        "block_allocator_memory",
        "perf",
        "psql",
        "ON_ERROR_STOP",
        "chgrp",
        "openssl",
        "rand",
        "Reload",
        "pg_blocking_pids",
    }
    | {
        "USER",
        "target_session_attrs",
        "REJECTED",
        "SPARK_LOCAL_DIRS",
        "HADOOP_CONF_DIR",
        "dayofweek",
        "date_diff",
        "BigInt",
        "changelog",
    }
    | {"basil", "libgomp1"}
)
# a bundle of top ads is made of files of its own
BUNDLE = {ROOT / "api" / "v1" / "top_performers" / name for name in ("bundle.py", "bundle_texts.py")}


@cache
def text(path: Path) -> str:
    return path.read_text()


@cache
def sources() -> list[Path]:
    """All that is run or read, but the documents and what builds leave."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "/target/" not in str(path)]
    mine = {".py", ".sql", ".yml", ".yaml", ".js", ".html", ".csv"}
    return [path for path in found if path.suffix in mine] + [ROOT / "Makefile", ROOT / ".env.example"]


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text(page))
    targets = [((page.parent / path).resolve() if path else page, section) for path, section in links]
    assert [path for path, _ in targets if not path.exists()] == []
    assert [
        (path.name, section)
        for path, section in targets
        if section and path.suffix == ".md" and section not in map(anchor, headings(path))
    ] == []


def test_every_page_and_section_that_a_text_names_is_there() -> None:
    # design papers that nobody has who reads these, and sections that were renamed
    for path in [*PAGES, *sources()]:
        pages = set(re.findall(r"(?<![\w/>])[\w/.-]+\.md\b", text(path))) if path not in BUNDLE else set()
        known = {page for page in pages if any((at / page).exists() for at in (path.parent, ROOT, ROOT / "docs"))}
        assert pages - known == set(), path
    quoted = re.compile(r'([\w-]+\.md)\)?, "([^"\n]+)"')
    for path in [*PAGES, *sources()]:
        for page, section in quoted.findall(text(path)):
            assert section in headings(ROOT / "docs" / page), f"{path}: {section}"


def commands() -> Iterator[tuple[Path, str]]:
    for path in [*PAGES, *sources()]:
        for said in re.findall(r"`(?:\.venv/bin/)?((?:touchledger|make|python -m) [\w.-]+)", text(path)):
            yield path, said


def test_every_command_that_a_text_names_can_be_given() -> None:
    assert isinstance(main, click.Group)
    targets = set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), re.MULTILINE))
    for path, said in commands():
        program, _, what = said.rpartition(" ")
        module = ROOT / what.replace(".", "/")
        is_there = {
            "touchledger": what in main.commands,
            "make": what in targets,
            "python -m": module.with_suffix(".py").exists() or (module / "__main__.py").exists(),
        }[program]
        assert is_there, f"{path}: {said}"


def test_every_route_that_a_text_names_is_served() -> None:
    def plain(path: str) -> str:
        return re.sub(r"<[^>]+>|\{+\w+\}+", "*", path).removeprefix("/api/v1").rstrip("/.:")

    table = re.findall(r"^\| ([A-Z]+) \| `(\S+)` \|", text(ROOT / "docs" / "routes.md"), re.MULTILINE)
    served = {(method, plain(path)) for method, path in table}
    # what is deleted is named by the path's last part, which need not be written out
    served |= {(method, path.removesuffix("/*")) for method, path in served if method == "DELETE"}
    said = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) `?(W?/[\w/{}<>.:-]+)")
    # these speak of the routes of providers
    others = {"sandbox", "connectors", "benchmarks", "sandbox.md"}
    for path in [*PAGES, *sources()]:
        if others & {path.name, path.relative_to(ROOT).parts[0]}:
            continue
        for method, route in said.findall(text(path)):
            route = route.replace("W/", "/workspaces/*/", 1) if route.startswith("W/") else route
            assert (method, plain(route)) in served, f"{path}: {method} {route}"


@cache
def words() -> frozenset[str]:
    known = set[str]()
    for path in [*sources(), *(ROOT / "tests").rglob("*.py"), ROOT / "pyproject.toml"]:
        if path != Path(__file__):
            known |= {path.stem, *re.findall(r"\w+", text(path))}
    return frozenset(known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_in_code_letters_is_one_that_the_code_knows(page: Path) -> None:
    for said in re.findall(r"`([^`\n]+)`", text(page)):
        unknown = {
            one for one in re.findall(r"[A-Za-z_]\w{3,}", said) if one not in words() and "_" not in (one[0], one[-1])
        }
        assert unknown <= FOREIGN, said
