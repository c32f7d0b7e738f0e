"""The one HTTP transport: timeouts, repeats with jitter, platform waits, request budgets, redaction."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, Self

import httpx
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    retry_if_not_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from connectors.deadline import Deadline
from connectors.errors import ConnectorError, Malformed, OutOfTime, Refused, Revoked, Throttled, TooMuchData, Transient
from connectors.redaction import guard_client_logs, redact
from connectors.trust import past_proxies, trust
from connectors.whole_text import no_constant, whole

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True)
class Policy:
    """Bounds of one call. Seconds; `attempts` counts the first try and every wait for a quota alike.

    `read_timeout` bounds each silence, `whole_timeout` one try from its first byte to its last, `largest_body` the
    bytes of an answer: a larger one is TooMuchData.

    A provider that asks for a wait above `longest_wait` is not waited for: `Throttled` goes to the caller at once,
    who comes back later instead of holding a worker.
    """

    attempts: int = 5
    longest_wait: float = 120.0
    first_backoff: float = 0.5
    longest_backoff: float = 20.0
    connect_timeout: float = 5.0
    read_timeout: float = 60.0
    whole_timeout: float = 300.0
    largest_body: int = 128 * 2**20


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `body` is the parsed JSON, fractions as Decimal; None when the text was not JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any
    is_json: bool

    def header_json(self, name: str) -> Any:
        """A header that carries JSON, parsed; None when it is absent or broken."""
        try:
            return json.loads(self.headers[name])
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True)
class Request:
    """One request; `headers` carries the credential and stays out of the repr.

    `once` is for what must not happen twice: it is asked again only when it was turned away unheard.
    """

    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    document: Any = field(default=None, repr=False)
    content: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    once: bool = False


class Dialect(Protocol):
    """How one provider says no, and how it says slow down."""

    provider: str

    def judge(self, answer: Answer) -> None:
        """Return for a good answer, else raise a ConnectorError."""

    def pause_after(self, answer: Answer) -> float:
        """Seconds to leave before the next request, from the budget the answer reports; 0 for none."""


class Transport:
    """Sends requests for connectors; one per connection and run, not shared between threads.

    `within` bounds all its requests and waits together, in seconds from now; past it they raise `OutOfTime`.
    `sleep` is replaceable, so that a test need not wait. `requests` counts what went over the wire.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        within: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        guard_client_logs()
        self.policy = policy or Policy()
        self.requests = 0
        self._sleep = sleep
        self._pause = 0.0
        self._deadline = Deadline()
        self._ends_at = math.inf if within is None else time.monotonic() + within

    def send(self, request: Request, dialect: Dialect, *, secrets: tuple[str, ...] = ()) -> Answer:
        """The answer to `request`, judged good by `dialect`.

        Raises Revoked, Refused, CursorExpired and TooMuchData at once; Throttled, Transient and Malformed when
        `policy.attempts` are used up, Throttled at once when the asked wait is above `policy.longest_wait`,
        Transient and Malformed at once for a request that is for `once`.
        """
        mended = (Throttled,) if request.once else (Throttled, Transient, Malformed)
        repeat = Retrying(
            retry=retry_if_exception_type(mended) & retry_if_not_exception_type(OutOfTime),
            stop=self._stop,
            wait=self._wait,
            sleep=self.sleep,
            reraise=True,
        )
        try:
            return repeat(self._once, request, dialect)
        except ConnectorError as error:
            error.args = (redact(str(error), secrets),)
            error.repeated = repeat.statistics["attempt_number"] > 1
            raise

    @cached_property
    def _client(self) -> httpx.Client:
        # a proxy named in the environment is for the outside world, never for the bundled sandbox
        client = httpx.Client(verify=trust(), follow_redirects=False, mounts=past_proxies())
        return self._deadline.bind(client)

    def sleep(self, seconds: float) -> None:
        """Wait, by the clock this transport was given; OutOfTime at once when the wait would end too late."""
        if seconds >= self._left():
            raise OutOfTime("transport", "the wait asked for is longer than the time left")
        self._sleep(seconds)

    def stop(self) -> None:
        """Ask nothing more: what would be asked next raises OutOfTime. Any thread may say so."""
        self._ends_at = -math.inf

    def close(self) -> None:
        if "_client" in vars(self):
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _once(self, request: Request, dialect: Dialect) -> Answer:
        if self._pause:
            pause, self._pause = min(self._pause, self.policy.longest_wait), 0.0
            self.sleep(pause)
        answer = self._exchange(request, dialect.provider)
        self._pause = dialect.pause_after(answer)
        try:
            dialect.judge(answer)
        except Transient:
            # a wait that the headers name is kept, whatever the body calls the refusal
            if answer.status == 429:
                judge_status(answer, dialect.provider)
            raise
        judge_status(answer, dialect.provider)
        return answer

    def _exchange(self, request: Request, provider: str) -> Answer:
        left = self._left()
        if left <= 0:
            raise OutOfTime(provider, "the time for asking is over")
        self.requests += 1
        policy = self.policy
        self._deadline.within(min(policy.whole_timeout, left))
        try:
            with self._client.stream(
                request.method,
                request.url,
                params=dict(request.params) or None,
                data=None if request.form is None else dict(request.form),
                json=request.document,
                content=request.content,
                headers=dict(request.headers),
                timeout=httpx.Timeout(policy.read_timeout, connect=policy.connect_timeout),
            ) as response:
                return parsed(response.status_code, response.headers, self._body(response, provider))
        except httpx.TimeoutException:
            raise self._too_late(provider, "no answer in time") from None
        except httpx.TransportError as error:
            # the chained exception would carry the request, and with it the credential
            raise Transient(provider, f"connection failed ({type(error).__name__})", reason="connection") from None
        except httpx.DecodingError:
            raise Malformed(provider, "the answer's encoding is broken") from None

    def _body(self, response: httpx.Response, provider: str) -> bytes:
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > self.policy.largest_body:
                raise TooMuchData(provider, "the answer is too large")
        return bytes(body)

    def _left(self) -> float:
        return self._ends_at - time.monotonic()

    def _too_late(self, provider: str, message: str) -> Transient:
        return OutOfTime(provider, message) if self._left() <= 0 else Transient(provider, message, reason="timeout")

    def _stop(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        longest = min(self.policy.longest_wait, self._left())
        if isinstance(error, Throttled) and (error.wait or 0.0) > longest:
            return True
        return stop_after_attempt(self.policy.attempts)(state)

    def _wait(self, state: RetryCallState) -> float:
        policy = self.policy
        jitter = wait_random_exponential(multiplier=policy.first_backoff, max=policy.longest_backoff)(state)
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Throttled) and error.wait is not None:
            self._pause = 0.0
            return error.wait + min(jitter, policy.first_backoff)
        return jitter


def judge_status(answer: Answer, provider: str) -> None:
    """Raise for what a status alone says; dialects look at bodies first."""
    status = answer.status
    if status == 429 or (status == 503 and "retry-after" in answer.headers):
        raise Throttled(provider, f"HTTP {status}", wait=retry_after(answer), status=status)
    if status >= 500 or status == 408:
        raise Transient(provider, f"HTTP {status}", status=status)
    if status == 401:
        raise Revoked(provider, "the credential was not accepted", status=status)
    if status >= 300:
        raise Refused(provider, f"HTTP {status}", status=status)
    if not answer.is_json:
        raise Malformed(provider, "the answer is not JSON", status=status)


def retry_after(answer: Answer) -> float | None:
    """Seconds of a Retry-After header in either of its two forms, or with decimals; None when absent or unreadable."""
    text = answer.headers.get("retry-after", "").strip()
    if not text:
        return None
    # Shopify writes 2.0
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
        seen = answer.headers.get("date")
        # the provider's own clock, when it tells it: ours may be off
        since = parsedate_to_datetime(seen) if seen else datetime.now(UTC)
        return max(0.0, (until - since).total_seconds())
    except (TypeError, ValueError):
        return None


def parsed(status: int, headers: Mapping[str, str], text: bytes) -> Answer:
    """The answer with its body parsed: fractions exactly as they were written, texts `whole`."""
    try:
        body = whole(json.loads(text, parse_float=Decimal, parse_constant=no_constant), text)
    except (ValueError, RecursionError):
        return Answer(status, headers, None, False)
    return Answer(status, headers, body, True)
