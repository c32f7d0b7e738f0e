"""Addresses that somebody might give so that we call ourselves, our network, or a file."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.factories.receivers import PUBLIC, names

ADDRESSES = {
    "loopback": "https://127.0.0.1/x",
    "loopback, port 443 named": "https://127.0.0.1:443/x",
    "another loopback": "https://127.255.255.254/x",
    "decimal": "https://2130706433/x",
    "hexadecimal": "https://0x7f000001/x",
    "hexadecimal by octet": "https://0x7f.0x0.0x0.0x1/x",
    "octal": "https://017700000001/x",
    "octal by octet": "https://0177.0.0.01/x",
    "padded with zeros": "https://127.000.000.001/x",
    "short": "https://127.1/x",
    "zero": "https://0/x",
    "this host": "https://0.0.0.0/x",
    "private 10/8": "https://10.1.2.3/x",
    "private 172.16/12": "https://172.31.255.1/x",
    "private 192.168/16": "https://192.168.1.1/x",
    "cloud metadata": "https://169.254.169.254/latest/meta-data/",
    "shared 100.64/10": "https://100.64.0.1/x",
    "benchmarking 198.18/15": "https://198.18.0.1/x",
    "documentation": "https://192.0.2.1/x",
    "multicast": "https://224.0.0.1/x",
    "broadcast": "https://255.255.255.255/x",
    "IPv6 loopback": "https://[::1]/x",
    "IPv6 loopback, written out": "https://[0:0:0:0:0:0:0:1]/x",
    "IPv6 unspecified": "https://[::]/x",
    "IPv4 mapped into IPv6": "https://[::ffff:127.0.0.1]/x",
    "IPv4 mapped, in hexadecimal": "https://[::ffff:7f00:1]/x",
    "IPv4 compatible": "https://[::127.0.0.1]/x",
    "IPv4 translated": "https://[::ffff:0:127.0.0.1]/x",
    "NAT64": "https://[64:ff9b::7f00:1]/x",
    "6to4": "https://[2002:7f00:1::]/x",
    "Teredo": "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/x",
    "IPv6 link-local": "https://[fe80::1]/x",
    "link-local with a zone": "https://[fe80::1%25eth0]/x",
    "loopback with a zone": "https://[::1%25lo]/x",
    "zone without escape": "https://[::1%lo]/x",
    "IPv6 site-local": "https://[fec0::1]/x",
    "IPv6 unique local": "https://[fd00:ec2::254]/x",
    "localhost": "https://localhost/x",
    "localhost with a dot": "https://localhost./x",
    "name of loopback": "https://loopback.example/x",
    "name of an inner machine": "https://inner.example/x",
    "name of IPv6 loopback": "https://six.example/x",
    "name that nobody knows": "https://unknown.example/x",
    "user before the host": "https://public.example@127.0.0.1/x",
    "user and password": "https://public.example:443@127.0.0.1/x",
    "host before the at": "https://127.0.0.1@public.example/x",
    "backslash": "https://public.example\\@127.0.0.1/x",
    "backslashes for slashes": "https:\\\\127.0.0.1\\x",
    "fragment before the at": "https://127.0.0.1#@public.example/x",
    "fragment": "https://public.example/x#127.0.0.1",
    "percent in the host": "https://%31%32%37.0.0.1/x",
    "full-width dots": "https://127\u30020\u30020\u30021/x",
    "circled digits": "https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/x",
    "soft hyphen": "https://local\u00adhost/x",
    "tab in the host": "https://127.0\t.0.1/x",
    "line break": "https://public.example/x\r\nHost: 127.0.0.1",
    "blank before": " https://127.0.0.1/x",
    "zero byte": "https://127.0.0.1\x00.public.example/x",
    "port 80": "https://public.example:80/x",
    "port 22": "https://public.example:22/x",
    "port 8443": "https://public.example:8443/x",
    "port out of range": "https://public.example:99999/x",
    "http": "http://public.example/x",
    "upper-case scheme": "HTTPS://127.0.0.1/x",
    "one slash": "https:/127.0.0.1/x",
    "no scheme": "//127.0.0.1/x",
    "no host": "https:///x",
    "file": "file:///etc/passwd",
    "file on a host": "file://127.0.0.1/etc/passwd",
    "ftp": "ftp://127.0.0.1/x",
    "gopher": "gopher://127.0.0.1:6379/_FLUSHALL",
    "data": "data:text/plain,x",
    "javascript": "javascript:alert(1)",
    "the platform's name in a user": "https://lookaside.fbsbx.com@public.example/x",
    "the platform's name in a path": "https://127.0.0.1/lookaside.fbsbx.com/x",
    "the platform's name behind a backslash": "https://127.0.0.1\\.fbsbx.com/x",
    "too long": "https://public.example/" + "a" * 2048,
    "empty": "",
}
KNOWN = {
    "public.example": PUBLIC,
    "lookaside.fbsbx.com": PUBLIC,
    "loopback.example": "127.0.0.1",
    "inner.example": "10.0.0.7",
    "six.example": "::1",
    "localhost": "127.0.0.1",
    "localhost.": "127.0.0.1",
}


@contextmanager
def sealed() -> Iterator[list[Any]]:
    """No connection is made meanwhile, whatever is tried; gives the addresses that were dialled."""
    dialled: list[Any] = []

    def dial(_: socket.socket, address: Any) -> None:
        dialled.append(address)
        raise ConnectionRefusedError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", names({name: [address] for name, address in KNOWN.items()}))
        patched.setattr(socket.socket, "connect", dial)
        yield dialled
