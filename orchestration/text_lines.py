"""The lines of a text file, no further than a record may be long, and where among them a record begins."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

LONGEST_RECORD = 2**24
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class FileRejectedError(ValueError):
    """The whole file cannot be taken; the message says why, to the person who made it."""


@contextmanager
def text_of(path: Path) -> Iterator[TextIO]:
    """The file's text, unpacked when it is a .gz; a byte order mark is not part of it."""
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


class Lines:
    """The lines of a text: `number` of them were read, and the record being read begins at line `begin`, from 1.

    Raises FileRejectedError for a record that is too long and for what is no UTF-8.
    """

    def __init__(self, file: TextIO) -> None:
        self._file, self.number = file, 0
        self.begin_record()

    def begin_record(self) -> None:
        """What is read from here on belongs to another record."""
        self._taken, self.begin = 0, self.number + 1

    def __iter__(self) -> Iterator[str]:
        while line := self._line():
            self.number += 1
            self._taken += len(line)
            if self._taken > LONGEST_RECORD:
                raise FileRejectedError(f"a record is longer than {LONGEST_RECORD} characters")
            yield line

    def _line(self) -> str:
        try:
            return self._file.readline(LONGEST_RECORD - self._taken + 1)
        except UnicodeDecodeError as error:
            raise FileRejectedError(self._no_text(error)) from None

    def _no_text(self, error: UnicodeDecodeError) -> str:
        # bytes are decoded some lines ahead
        before = error.object[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line = self.number + 1 + before.count(b"\n")
        if line == 1 and error.object.startswith(UTF_16):
            return "UTF-16 text; save it as UTF-8"
        return f"line {line}: not UTF-8 text (byte 0x{error.object[error.start]:02x})"
