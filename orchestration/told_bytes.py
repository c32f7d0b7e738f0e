"""Whom the bytes of a file name that no reader takes: looked through piece by piece, however much they unpack to."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from api.erased import Person

PIECE = 2**20
# zlib's number for data with the head of a gzip file
GZIP = 31
# the heads of gzip data and of text of two bytes a letter: such bytes have zeros, and are looked at all the same
TOLD = (b"\x1f\x8b", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# characters that one may be spelt with: four bytes, each percent-encoded several times over
SPELT = 64

Pieces = Callable[[], Iterator[bytes]]


def may_name(path: Path, person: Person) -> bool:
    """Whether the file holds the person's bytes, unpacked where it is a .gz, or does not tell whom it names."""
    content = _content(path)
    return _names(content(), person) or _names(_beginning(content()), person) or _is_packed(content())


def _content(path: Path) -> Pieces:
    raw, unpacked = (partial(_pieces, path, packed=packed) for packed in (False, True))
    if path.suffix.lower() != ".gz":
        return raw
    try:
        for _ in unpacked():
            pass
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return raw
    return unpacked


def _pieces(path: Path, *, packed: bool) -> Iterator[bytes]:
    with gzip.open(path) if packed else path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _names(pieces: Iterator[bytes], person: Person) -> bool:
    decoder, seen = codecs.getincrementaldecoder("utf-8")("replace"), ""
    kept = SPELT * max(map(len, person.texts), default=1)
    for piece in pieces:
        # without its zeros, text of two bytes a letter is read like any other
        seen = seen[-kept:] + decoder.decode(piece.replace(b"\0", b""))
        if person.pattern.search(seen):
            return True
    return False


def _beginning(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What damaged gzip data tells up to the damage; nothing for data of another kind."""
    found, unpacker = bytearray(), zlib.decompressobj(GZIP)
    try:
        # byte by byte, since a piece with damage in it gives nothing at all
        for one in (piece[at : at + 1] for piece in pieces for at in range(len(piece))):
            found += unpacker.decompress(one)
            unpacker = zlib.decompressobj(GZIP) if unpacker.eof else unpacker
            if len(found) >= PIECE:
                yield bytes(found)
                found.clear()
    except zlib.error:
        pass
    yield bytes(found)


def _is_packed(pieces: Iterator[bytes]) -> bool:
    """Whether the bytes do not tell whom they name: a Parquet file, a workbook, an archive."""
    first = next(pieces, b"")
    return not first.startswith(TOLD) and (b"\0" in first or any(b"\0" in piece for piece in pieces))
