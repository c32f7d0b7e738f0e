"""DKIM signatures (RFC 6376): rsa-sha256 over a message in relaxed form, so that what relays touch does no harm."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

# what a receiver shows or answers to
SIGNED = ("from", "to", "subject", "date", "message-id", "reply-to", "mime-version", "content-type")


@dataclass(frozen=True)
class Signer:
    """Whose signature it is: the domain, where in its DNS the key is, and the private half."""

    domain: str
    selector: str
    key: rsa.RSAPrivateKey


def signed(message: bytes, signer: Signer) -> bytes:
    """The message (with CRLF line ends) below its signature."""
    head, _, body = message.partition(b"\r\n\r\n")
    headers = _headers(head)
    names = [name for name in SIGNED if name in headers]
    digest = base64.b64encode(hashlib.sha256(relaxed_body(body)).digest()).decode()
    value = (
        f"v=1; a=rsa-sha256; c=relaxed/relaxed; d={signer.domain}; s={signer.selector};\r\n"
        f" h={':'.join(names)};\r\n bh={digest};\r\n b="
    )
    own = relaxed_header("DKIM-Signature", value).removesuffix(b"\r\n")
    covered = b"".join(headers[name] for name in names) + own
    signature = base64.b64encode(signer.key.sign(covered, padding.PKCS1v15(), hashes.SHA256())).decode()
    folded = "\r\n ".join(signature[at : at + 72] for at in range(0, len(signature), 72))
    return f"DKIM-Signature: {value}{folded}\r\n".encode("ascii") + message


def relaxed_header(name: str, value: str) -> bytes:
    """One header as it is signed: its name in lower case, its value on one line with single blanks."""
    on_one_line = re.sub(r"[ \t\r\n]+", " ", value).strip()
    return f"{name.strip().lower()}:{on_one_line}\r\n".encode("ascii")


def relaxed_body(body: bytes) -> bytes:
    """The body as it is signed: single blanks, none at the end of a line, no empty lines at its end."""
    lines = [re.sub(rb"[ \t]+", b" ", line).rstrip(b" ") for line in body.split(b"\r\n")]
    while lines and not lines[-1]:
        lines.pop()
    return b"".join(line + b"\r\n" for line in lines)


def _headers(head: bytes) -> dict[str, bytes]:
    unfolded = re.sub(rb"\r\n(?=[ \t])", b"", head).decode("ascii")
    parts = (line.partition(":") for line in unfolded.split("\r\n"))
    return {name.strip().lower(): relaxed_header(name, value) for name, _, value in parts}
