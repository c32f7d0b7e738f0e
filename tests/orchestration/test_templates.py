"""Compiled templates of dbt stay from one process to the next."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# what is counted is how often Jinja reads a template
RENDERED = """
import json, os, sys
from pathlib import Path
from dbt_common.clients.jinja import MacroFuzzEnvironment, get_template, render_template
from orchestration import templates

parsed = []
parse = MacroFuzzEnvironment._parse
MacroFuzzEnvironment._parse = lambda self, *told: parsed.append(told) or parse(self, *told)

def told(text, **options):
    return render_template(get_template(text, {"n": 2}, **options), {})

def answer(folder):
    templates.keep(Path(folder))
    found = [told("{{ n }}"), told("{{ n }}", native=True), told("{% for x in [n] %}<{{ x }}>{% endfor %}")]
    found.append(told("{{ n }}"))
    print(json.dumps([found, len(parsed)]), flush=True)

for line in sys.stdin:
    child = os.fork()
    if not child:
        answer(line.removesuffix("\\n"))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("a process failed")
"""
FOUND = ["2", 2, "<2>", "2"]


Rendered = Callable[[Path], list[object]]


@pytest.fixture(scope="module")
def rendered() -> Iterator[Rendered]:
    """Answers with what a process of its own makes of the templates: each is forked where dbt is imported, once."""
    command = [sys.executable, "-c", RENDERED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, answered = process.stdin, process.stdout
        assert asked and answered

        def ask(folder: Path) -> list[object]:
            print(folder, file=asked, flush=True)
            told: list[object] = json.loads(answered.readline())
            return told

        yield ask


def test_a_template_is_read_once_and_means_the_same_in_every_process(rendered: Rendered, tmp_path: Path) -> None:
    assert rendered(tmp_path) == [FOUND, 3]
    assert rendered(tmp_path) == [FOUND, 0]


@pytest.mark.parametrize("kept", [b"", b"j2", None])
def test_a_damaged_one_is_compiled_anew(rendered: Rendered, tmp_path: Path, kept: bytes | None) -> None:
    rendered(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 3
    for path in files:
        path.write_bytes(path.read_bytes()[:-20] if kept is None else kept)
    assert rendered(tmp_path) == [FOUND, 3]
    assert rendered(tmp_path) == [FOUND, 0]


def test_where_nothing_can_be_written_all_is_compiled_as_ever(rendered: Rendered, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert rendered(tmp_path / "file" / "templates") == [FOUND, 4]
