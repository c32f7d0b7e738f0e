"""Addresses that users give: which are called, and that the one checked is the one connected to."""

from __future__ import annotations

import io
import socket
import time
from typing import Any

import pytest

from api.webhooks import egress
from api.webhooks.egress import Egress, FetchError, NotPublicError, Outcome, check
from tests.factories.receivers import PUBLIC, Receiver, names

FORMS = (
    *("127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"),
    *("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "192.0.0.1", "255.255.255.255"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[fc00::1]", "[2002:7f00:1::]"),
    # the platform of Azure's machines, and inner addresses within public ones
    *("168.63.129.16", "[2606:4700::5efe:a00:1]", "[2606:4700::200:5efe:a00:1]"),
    # inner ones in spellings that were given up
    *("[::a00:1]", "[::ffff:0:a00:1]", "[fec0::1]"),
)
BROKEN = (
    *("http://receiver.example/", "https://receiver.example:8443/", "https://receiver.example:80/", "ftp://a.example/"),
    *(
        "https://user@receiver.example/",
        "https://user:pw@receiver.example/",
        "https://receiver.example/#a",
        "https:///x",
    ),
    *(
        "https://receiver.example\\@10.0.0.1/",
        "https://receiver.example/\n",
        "https://receiver.example:99999/",
        "receiver",
    ),
    "https://" + "a" * 2048,
)


@pytest.fixture(autouse=True)
def resolver(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    known = {"receiver.example": [PUBLIC], "inside.example": ["10.0.0.7"]}
    monkeypatch.setattr(socket, "getaddrinfo", names(known))
    return known


@pytest.mark.parametrize("host", FORMS)
def test_no_spelling_of_an_inner_address_is_taken_or_called(host: str) -> None:
    with pytest.raises(NotPublicError):
        check(f"https://{host}/hook")
    assert Egress().post(f"https://{host}/hook", b"{}", {}).error in {"address_not_public", "connection"}


@pytest.mark.parametrize("url", BROKEN)
def test_what_is_not_https_on_443_of_a_plain_name_is_refused(url: str) -> None:
    with pytest.raises(NotPublicError):
        check(url)
    assert Egress().post(url, b"{}", {}) == Outcome(error="address_not_public")


@pytest.mark.parametrize("host", ["receiver.example", "receiver.example:443", PUBLIC, "[2606:4700::1111]"])
def test_a_public_machine_may_be_named(host: str) -> None:
    check(f"https://{host}/hook?key=1")


@pytest.mark.parametrize("host", ["inside.example", "unknown.example"])
def test_a_name_must_lead_to_a_public_machine(host: str) -> None:
    with pytest.raises(NotPublicError):
        check(f"https://{host}/hook")


def test_the_address_that_was_checked_is_the_one_connected_to(
    resolver: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled: list[Any] = []

    def dial(address: Any, *_: Any, **__: Any) -> socket.socket:
        dialled.append(address)
        raise OSError

    monkeypatch.setattr("urllib3.util.connection.create_connection", dial)
    # public when it is checked, ours when it is asked again
    resolver["receiver.example"] = [PUBLIC, "127.0.0.1"]
    assert Egress().post("https://receiver.example/hook", b"{}", {}) == Outcome(error="connection")
    assert dialled == [(PUBLIC, 443)]
    resolver["receiver.example"] = [PUBLIC, "127.0.0.1"]
    check("https://receiver.example/hook")
    assert Egress().post("https://receiver.example/hook", b"{}", {}) == Outcome(error="address_not_public")
    assert len(dialled) == 1


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[Any] = []

    def dial(address: Any, *_: Any, **__: Any) -> socket.socket:
        dialled.append(address)
        raise OSError

    monkeypatch.setattr("urllib3.util.connection.create_connection", dial)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert Egress().post("https://inside.example/", b"{}", {}) == Outcome(error="address_not_public")
    assert Egress().post("https://receiver.example/", b"{}", {}) == Outcome(error="connection")
    with pytest.raises(FetchError):
        Egress().fetch("https://receiver.example/", io.BytesIO(), most_bytes=9)
    assert dialled == [(PUBLIC, 443)] * 2


def test_a_redirect_is_not_followed_and_an_answer_not_read(receiver: Receiver) -> None:
    receiver.answers = [302]
    assert receiver.egress.post("https://receiver.example/hook", b"{}", {}) == Outcome(302)
    assert len(receiver.came) == 1


def test_a_connection_is_cut_however_slowly_the_other_side_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "WHOLE_SECONDS", 0.3)
    monkeypatch.setattr(egress, "CONNECT_SECONDS", 0.25)
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(egress.HTTPSConnection, "connect", lambda self: setattr(self, "sock", ours))
    begun = time.monotonic()
    egress._Connection("receiver.example").connect()
    theirs.settimeout(60)
    assert theirs.recv(1) == b""
    # what connecting did not take is left for the answer
    assert time.monotonic() - begun >= 0.3
    ours.close()
    theirs.close()


def test_no_setting_lets_loopback_in() -> None:
    from touchledger.settings import Settings

    assert not [name for name in Settings.model_fields if "webhook" in name and "secret" not in name]
    assert Egress().stand_ins == {}
    assert not egress.CONFIG.ip_filter_allow_loopback_ips
