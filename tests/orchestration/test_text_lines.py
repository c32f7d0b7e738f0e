"""Lines know where a record begins, and on which line a text is none."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from orchestration.text_lines import FileRejectedError, Lines, text_of


def test_a_record_of_several_lines_begins_at_its_first(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\nd")
    with text_of(tmp_path / "t.csv") as file:
        lines = Lines(file)
        found = []
        for number, line in enumerate(lines, start=1):
            found.append((line, lines.number, lines.begin))
            if number != 2:
                lines.begin_record()
    assert found == [("a\r\n", 1, 1), ("b\r", 2, 2), ("c\n", 3, 2), ("d", 4, 4)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_the_line_of_a_byte_that_is_no_text_is_told_wherever_it_stands(tmp_path: Path, name: str, end: str) -> None:
    chance = random.Random(7)
    for bad in (1, 2, 300, 4_000):
        texts = [("\u00e9" * chance.randrange(60) + end).encode() for _ in range(4_500)]
        texts[bad - 1] = b"caf\xe9" + texts[bad - 1]
        content = b"".join(texts)
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        with pytest.raises(FileRejectedError, match=f"^line {bad}: not UTF-8 text"), text_of(tmp_path / name) as file:
            list(Lines(file))
