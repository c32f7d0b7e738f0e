"""A name is data wherever it comes out: no markup, no formula, no template, no line of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.reports import pdf
from tests import faults_page
from tests.factories.hostile import HOSTILE
from tests.hostile_outputs import NEVER, OUTPUTS


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_name_does_anything_where_it_is_shown(output: str, tmp_path: Path) -> None:
    if output == "report, PDF" and not pdf.is_available():
        pytest.skip("WeasyPrint's libraries are not installed")
    told = OUTPUTS[output](tmp_path)
    assert {label: told.get(label, NEVER) for label in HOSTILE} == {
        label: faults_page.cells()[label, output] for label in HOSTILE
    }
