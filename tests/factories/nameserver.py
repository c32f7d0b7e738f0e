"""A tiny name server on loopback, with the TXT records that a test gives it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rrset


@dataclass
class Zone:
    """What the server answers. `is_broken` makes it answer SERVFAIL; `asked` is what it was asked for.

    Of what ends with a name in `lame` it gets no answer itself, as of a domain whose own servers are gone.
    """

    port: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    is_broken: bool = False
    lame: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answer(self, wire: bytes) -> bytes:
        query = dns.message.from_wire(wire)
        name = query.question[0].name
        self.asked.append(name.to_text(omit_final_dot=True))
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        text = self.texts.get(self.asked[-1])
        if self.is_broken or self.asked[-1].endswith(self.lame):
            response.set_rcode(dns.rcode.SERVFAIL)
        elif text is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        else:
            # one string of a TXT record holds 255 characters
            strings = " ".join(f'"{text[at : at + 255]}"' for at in range(0, len(text), 255))
            response.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", strings))
        return response.to_wire(max_size=65535)


@contextmanager
def name_server() -> Iterator[Zone]:
    """Answer over UDP until the block ends."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(0.1)
        zone, ended = Zone(listener.getsockname()[1]), threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    wire, client = listener.recvfrom(4096)
                except TimeoutError:
                    continue
                listener.sendto(zone.answer(wire), client)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield zone
        finally:
            ended.set()
            thread.join()
