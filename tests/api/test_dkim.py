"""Signatures hold for what was signed and for nothing else; the relaxed forms are those of RFC 6376."""

from __future__ import annotations

import base64
import re

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from api import dkim

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
MESSAGE = (
    b"From: Reports <reports@shop.example>\r\nTo: ada@example.com\r\nSubject: A long\r\n subject\t folded\r\n"
    b"X-Relay: none\r\n\r\nOne  line \r\n.\r\n\r\n\r\n"
)


def check(message: bytes) -> None:
    """Verify as a receiver does; raises InvalidSignature."""
    found = re.match(rb"(DKIM-Signature: (?:.|\r\n[ \t])*)\r\n", message)
    assert found is not None
    rest = message[found.end() :]
    value = found[1].decode().partition(":")[2]
    tags = dict(tag.strip().partition("=")[::2] for tag in re.sub(r"\s+", " ", value).split(";"))
    head, _, body = rest.partition(b"\r\n\r\n")
    lines = re.sub(rb"\r\n(?=[ \t])", b"", head).decode().split("\r\n")
    fields = {line.partition(":")[0].lower(): line.partition(":")[2] for line in lines}
    covered = b"".join(dkim.relaxed_header(name, fields[name]) for name in tags["h"].split(":"))
    without = re.sub(r"\bb=[^;]*\Z", "b=", value)
    covered += dkim.relaxed_header("DKIM-Signature", without).removesuffix(b"\r\n")
    digest = hashes.Hash(hashes.SHA256())
    digest.update(dkim.relaxed_body(body))
    if base64.b64encode(digest.finalize()).decode() != tags["bh"]:
        raise InvalidSignature
    signature = base64.b64decode(tags["b"].replace(" ", ""))
    KEY.public_key().verify(signature, covered, padding.PKCS1v15(), hashes.SHA256())


def test_the_relaxed_forms_are_those_of_the_standard() -> None:
    assert dkim.relaxed_header("A", " X") + dkim.relaxed_header("B ", " Y\t\r\n\tZ  ") == b"a:X\r\nb:Y Z\r\n"
    assert dkim.relaxed_body(b" C \r\nD \t E\r\n\r\n\r\n") == b" C\r\nD E\r\n"
    assert dkim.relaxed_body(b"\r\n\r\n") == b""


def test_a_signature_covers_body_and_headers() -> None:
    signed = dkim.signed(MESSAGE, dkim.Signer("shop.example", "tl1", KEY))
    assert signed.endswith(MESSAGE)
    assert b"d=shop.example; s=tl1;" in signed
    check(signed)
    # what relays do: fold anew, add blanks at ends, touch headers of their own
    check(
        signed.replace(b"A long\r\n subject\t folded", b"A long subject folded").replace(b"line \r\n", b"line   \r\n")
    )
    check(signed.replace(b"X-Relay: none", b"X-Relay: some"))
    for before, after in ((b"One", b"Two"), (b"ada@", b"eve@"), (b"A long", b"Along"), (b"d=shop", b"d=drop")):
        with pytest.raises(InvalidSignature):
            check(signed.replace(before, after))
