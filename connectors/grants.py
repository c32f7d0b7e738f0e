"""What all hand-offs share: the client that asks, the accounts it is let in to, and the reads on the way (OAuth)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from connectors.errors import ConnectorError, Malformed, Refused, Revoked, Throttled, Transient
from connectors.transport import Answer, Request, Transport

MOST_ACCOUNTS = 500


@dataclass(frozen=True, slots=True)
class Client:
    """What a provider knows this deployment as. `page` is where people decide, `base_url` where it is asked."""

    provider: str
    client_id: str
    client_secret: str = field(repr=False)
    page: str
    base_url: str
    is_sandbox: bool
    developer_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Account:
    """An account that was opened to us; one that is closed at the provider itself carries a `reason`.

    `reached_through` is the account above it that has to be named with each call, at providers that want it.
    """

    external_account_id: str
    name: str
    currency: str | None = None
    timezone: str | None = None
    reason: str | None = None
    reached_through: str | None = None

    def document(self) -> dict[str, Any]:
        """As it is kept until somebody chooses."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person let us in with, and to."""

    token: str = field(repr=False)
    scopes: Sequence[str]
    accounts: Sequence[Account]


@dataclass
class Asking:
    """One code being redeemed."""

    client: Client
    transport: Transport
    code: str = field(repr=False)
    back: str

    def token(self, url: str, **more: str) -> Mapping[str, Any]:
        """What the token endpoint gives for the code, asked as most providers want it."""
        client = self.client
        form = {"client_id": client.client_id, "client_secret": client.client_secret, "code": self.code, **more}
        return self.send(Request("POST", self.address(url), form={**form, "redirect_uri": self.back}))

    def get(self, path: str, headers: Mapping[str, str], **params: str) -> Mapping[str, Any]:
        return self.send(Request("GET", self.address(path), params=params, headers=headers))

    def send(self, request: Request) -> Mapping[str, Any]:
        """The object answered to any request. Raises `connectors.errors` without a secret in their text."""
        hidden = (self.code, self.client.client_secret, *request.headers.values())
        return dict(self.transport.send(request, _Dialect(self.client.provider), secrets=hidden).body)

    def address(self, path: str) -> str:
        """A path at the provider, or a whole address, as an address."""
        return path if path.startswith(("http://", "https://")) else f"{self.client.base_url}/{path}"


@dataclass(frozen=True, slots=True)
class Way:
    """How one provider lets apps in: what we ask for and who reads what it gave.

    The rest is what its page calls things: our id, further members of its address, the code it sends people back with.
    """

    scope: str
    read: Callable[[Asking], Grant]
    client_field: str = "client_id"
    more: Mapping[str, str] = field(default_factory=dict)
    code_field: str = "code"


class _Dialect:
    """The refusals of token endpoints, and of the few reads behind them."""

    def __init__(self, provider: str) -> None:
        self.provider = provider

    def judge(self, answer: Answer) -> None:
        kinds: Sequence[tuple[bool, type[ConnectorError]]] = (
            (answer.status == 429, Throttled),
            (answer.status >= 500, Transient),
            (answer.status == 401, Revoked),
            (answer.status >= 400, Refused),
            (not answer.is_json or not isinstance(answer.body, dict), Malformed),
        )
        for applies, kind in kinds:
            if applies:
                # its words may repeat what was sent
                raise kind(self.provider, "the grant was not redeemed", status=answer.status)

    def pause_after(self, answer: Answer) -> float:
        return 0.0


def words(scope: str) -> list[str]:
    """The scopes in a text that separates them by commas or spaces."""
    return [one for one in scope.replace(",", " ").split() if one]


def text(value: object) -> str:
    """A text that is not empty; TypeError for anything else."""
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
