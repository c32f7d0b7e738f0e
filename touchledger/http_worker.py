"""gunicorn's worker of threads, which leaves a new connection to a worker that has none and lets what it imported be.

Workers wait on one listening socket, and whoever wakes first took all that came at once: of four connections opened
together one worker often had all four, and the other core idled for as long as they were kept.

What an application consists of stays to the worker's end. Every search of all objects for garbage went through it, and
the request that it fell to took 0.14 s longer.

A thread reads one request at a time and writes its answer. gunicorn waits without an end, for the rest of a request and
until an answer is taken: as many clients as there are threads, each of which had begun a request and said no more, or
asked for what is long and read nothing of it, kept the API from answering anybody. It also has a thread wait for the
first word of a connection, five seconds each, and browsers open some that they may never use.

What cannot be read as a request never reaches the application. Its answer is an envelope like every error's, where
gunicorn's is a page of HTML, and the log tells its kind alone: gunicorn wrote the line or header itself, with the token
or key in it.

Of a body that nobody read gunicorn takes what is small from the connection and ends the connection else, without a word
of it in the answer. A client that keeps its connections sent the next request into it and had no answer.
"""

from __future__ import annotations

import atexit
import errno
import gc
import math
import selectors
import socket
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any

import structlog
from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http import errors as http_errors  # type: ignore[import-untyped]
from gunicorn.http.body import Body, LengthReader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from api import context, errors
from api.http import answer_error
from api.responses import UNLESS_GIVEN

# longer than another worker takes to wake, shorter than anybody notices when a connection is opened
HESITATION_SECONDS = 0.001
# bytes of an unread body at which gunicorn gives its connection up
MOST_DRAINED = 64 * 1024
# for what has not come or gone yet: a whole header takes a moment, and a file that is sent up as long as it takes
PATIENCE_SECONDS = 20.0
LEAST_BYTES_A_SECOND = 1_000
# bytes of an answer that may wait in the system, half of which go before it takes more: less than patience gives
MOST_WAITING = 32 * 1024
# for the first word of a connection
SILENCE_SECONDS = 5.0
# for a client to hear the end of its last answer, as gunicorn has it
LEAVING_SECONDS = 2.0
# kinds of ParseException that are the application's own fault
OURS = (http_errors.InvalidResponseHeader, http_errors.InvalidResponseHeaderName)
# of what is not simply malformed
STATUSES = {
    http_errors.LimitRequestLine: 414,
    http_errors.ExpectationFailed: 417,
    http_errors.LimitRequestHeaders: 431,
}

# the API's own lines, redacted; gunicorn's are not
log = structlog.get_logger(__name__)


class Patience:
    """How long the other side is waited for: `PATIENCE_SECONDS`, which what it sends or takes fills up again."""

    def __init__(self) -> None:
        self._left = PATIENCE_SECONDS

    @contextmanager
    def wait(self, client: socket.socket) -> Iterator[None]:
        """Let one call of a blocking socket wait as long as there is patience; TimeoutError at its end."""
        began = time.monotonic()
        # no time at all would mean not to wait for anything, and to raise
        client.settimeout(max(self._left, 0.001))
        try:
            yield
        finally:
            client.settimeout(None)
            self._left -= time.monotonic() - began

    def moved(self, size: int) -> None:
        """So many bytes came or went: each `LEAST_BYTES_A_SECOND` of them give a second back."""
        # no more than there was: whoever sent a megabyte at once could be silent for a quarter of an hour
        self._left = min(PATIENCE_SECONDS, self._left + size / LEAST_BYTES_A_SECOND)


class Client(socket.socket):
    """A client's socket; with one that sends a request or takes an answer too slowly it is as if it had left."""

    def begin(self) -> None:
        """What is read and written from here on is another request and its answer."""
        self._coming, self._going = Patience(), Patience()

    def tell_what_goes(self) -> None:
        """Take no more from us than goes soon, so that what is taken tells how fast the client reads."""
        if self.family in (socket.AF_INET, socket.AF_INET6):
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MOST_WAITING)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """What came; nothing at the end of patience. Whoever set a time of its own has that."""
        if self.gettimeout() is not None:
            return super().recv(size, flags)
        try:
            # a time is set for what has to be waited for alone: most has come, and each setting is a call of the system
            found = super().recv(size, flags | socket.MSG_DONTWAIT)
        except BlockingIOError:
            try:
                with self._coming.wait(self):
                    found = super().recv(size, flags)
            except TimeoutError:
                return b""
        self._coming.moved(len(found))
        return found

    def send(self, data: Any, flags: int = 0) -> int:
        """Send what goes of it, and say how much; ConnectionResetError at the end of patience."""
        if self.gettimeout() is not None:
            return super().send(data, flags)
        try:
            sent = super().send(data, flags | socket.MSG_DONTWAIT)
        except BlockingIOError:
            try:
                with self._going.wait(self):
                    sent = super().send(data, flags)
            except TimeoutError:
                raise ConnectionResetError(errno.ECONNRESET, "the client does not take its answer") from None
        self._going.moved(sent)
        return sent

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all of it; ConnectionResetError at the end of patience."""
        rest = memoryview(data)
        while rest:
            rest = rest[self.send(rest, flags) :]


class Worker(ThreadWorker):  # type: ignore[misc]
    """Accepts at once while it has no connection, and else after workers that have none."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # the system's way of sending a file asks no socket of ours how long it may take
        self.cfg.set("sendfile", False)
        self.leaving: deque[Any] = deque()

    def load_wsgi(self) -> None:
        """Load the application, and leave all that is there by then out of searches for garbage."""
        super().load_wsgi()
        gc.collect()
        gc.freeze()
        # DuckDB's bindings would tell of each object that is still there at the end
        atexit.register(gc.unfreeze)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Begin or end to accept; a worker that ends answers who has connected by then, and lets in nobody else."""
        super().set_accept_enabled(enabled)
        if enabled or self.alive:
            return
        # once only, whoever asks again
        while self.sockets:
            self._close_door(self.sockets.pop())

    def _close_door(self, listener: Any) -> None:
        # gunicorn leaves it open to the end: the system let clients connect whose requests nobody would read
        with selectors.DefaultSelector() as waiting:
            waiting.register(listener, selectors.EVENT_READ)
            while self.nr_conns < self.worker_connections and waiting.select(0):
                super().accept(listener)
        listener.close()

    def accept(self, listener: Any) -> None:
        """Accept a connection that waits at `listener`, a socket, unless another worker has by then."""
        if self.nr_conns and self.cfg.workers > 1:
            time.sleep(HESITATION_SECONDS)
        super().accept(listener)

    def enqueue_req(self, conn: Any) -> None:
        """Give a connection to a thread, as soon as anything has come over it."""
        if conn.initialized or conn.data_ready or _has_come(conn.sock):
            super().enqueue_req(conn)
            return
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + SILENCE_SECONDS
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:
        """Do what a thread found out is next; who is to leave has a moment to hear the end of its answer.

        gunicorn waits for that moment in its loop, which accepts nobody meanwhile.
        """
        if self.alive and not fs.cancelled() and fs.exception() is None and fs.result() is False:
            self._let_leave(conn)
        else:
            super().finish_request(conn, fs)

    def murder_pending(self) -> None:
        """Close what waits no longer for its first word, or has been told to leave for long enough."""
        super().murder_pending()
        while self.leaving and self.leaving[0].timeout <= time.monotonic():
            self._close(self.leaving[0])

    def _let_leave(self, conn: Any) -> None:
        conn.sock.setblocking(False)
        conn.timeout, conn.drained = time.monotonic() + LEAVING_SECONDS, 0
        self.leaving.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._drain, conn))
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(conn)

    def _drain(self, conn: Any, client: socket.socket) -> None:
        # bytes that nobody reads would have the system break the connection off, and the answer with it
        try:
            came = client.recv(MOST_DRAINED)
        except BlockingIOError:
            return
        except OSError:
            came = b""
        conn.drained += len(came)
        if not came or conn.drained >= MOST_DRAINED:
            self._close(conn)

    def _close(self, conn: Any) -> None:
        self.leaving.remove(conn)
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def handle_request(self, req: Any, conn: Any) -> bool:
        """Answer `req` at `conn`; the answer says that the connection ends if too much of the body stays unread."""
        must_close = req.should_close
        # asked when the headers are written: what of the body is still there by then, nobody reads any more
        req.should_close = lambda: must_close() or _unread(req.body) >= MOST_DRAINED
        return bool(super().handle_request(req, conn))

    def handle(self, conn: Any) -> Any:
        """Read a request of a connection and answer it, unless either takes too long."""
        if not isinstance(conn.sock, Client):
            conn.sock = Client(fileno=conn.sock.detach())
            conn.sock.tell_what_goes()
        conn.sock.begin()
        return super().handle(conn)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what gunicorn could not read, or what failed around the application, at the socket `client`."""
        status = next((status for kind, status in STATUSES.items() if isinstance(exc, kind)), 400)
        error = errors.INVALID_REQUEST("This is no request of HTTP, or one longer than is read.")
        with self.wsgi.app_context():
            request_id = context.request_id()
            if isinstance(exc, OURS) or not isinstance(exc, http_errors.ParseException):
                status, error = 500, errors.INTERNAL_ERROR()
                log.error("internal_error", request_id=request_id, exc_info=exc)
            else:
                log.warning("no_request", request_id=request_id, status=status, kind=type(exc).__name__)
            answer = answer_error(error, status)
        answer.headers.update({**UNLESS_GIVEN, "X-Request-Id": request_id, "Connection": "close"})
        try:
            util.write_nonblock(client, f"HTTP/1.1 {answer.status}\r\n{answer.headers}".encode("latin-1") + answer.data)
        except OSError:
            log.debug("answer_unread", request_id=request_id)


def _has_come(client: socket.socket) -> bool:
    """Whether a socket has something to read, be it its end."""
    try:
        client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        # whoever reads it is told so again
        return True
    return True


def _unread(body: Body) -> float:
    """The bytes that are still to be taken from a body; how many more chunks there are nobody knows."""
    reader = body.reader
    if isinstance(reader, LengthReader):
        return int(reader.length) + int(body.buf.tell())
    return math.inf if getattr(reader, "parser", None) else 0
