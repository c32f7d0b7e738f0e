"""The processes of one deployment: started together, watched, and ended together."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestration.log_files import shorten
from orchestration.orphans import die_with_parent
from touchledger.settings import Settings

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 15.0
LOGS_SECONDS = 60.0
# for what was killed to be gone: its files are closed only then. Where nobody collects the dead, they stay in the group
KILLED_SECONDS = 2.0
# what a socket says of an address that no interface of this machine has
NO_ADDRESS = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}


class PortTakenError(RuntimeError):
    """Another process listens where ours should, or nobody can listen there."""


class NotStartedError(RuntimeError):
    """A process ended, or did not answer, while it was being waited for."""


@dataclass
class Child:
    """One process. It leads a process group of its own; `stop_by` is the signal that ends it in good order."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_by: signal.Signals


def listener(settings: Settings, name: str) -> tuple[str, str]:
    """The host that the port of this name is for, and the setting that chooses it: loopback's has none."""
    return (settings.api_host, "TOUCHLEDGER_API_HOST") if name == "api_port" else ("127.0.0.1", "")


def require_free(host: str, port: int, setting: str, *, host_setting: str = "") -> None:
    """Raise PortTakenError, naming the setting to change, when something listens on the port.

    Also where `host`, told by `host_setting` if that can be changed, is no address of this machine.
    """
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            # as servers do: a port that is only waiting for its last connection to time out is free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except UnicodeError:
        raise PortTakenError(f"{host_setting}: {host!r} is no name of a host") from None
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno in NO_ADDRESS:
            by = f"{host_setting}: " if host_setting else ""
            raise PortTakenError(f"{by}{host} is no address of this machine ({error.strerror})") from None
        raise PortTakenError(
            f"port {port} of {host} cannot be used ({error.strerror}). End what uses it, or set {setting}=<port>."
        ) from None


@dataclass
class Supervisor:
    """Starts processes and, when the block ends, however it ends, leaves none of them running."""

    logs: Path
    children: list[Child] = field(default_factory=list)
    log_mb: int = 0
    make_room: Callable[[], None] = lambda: None
    _looked_at: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # a signal that comes meanwhile asks for what is being done: its exception would leave the rest running
        with asked_to_end():
            self.stop()

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        stop_by: signal.Signals = signal.SIGTERM,
    ) -> Child:
        """Start a process, in this folder or another, with its output in `logs/<name>.log`.

        It dies with us even if we are killed.
        """
        log = self.logs / f"{name}.log"
        with _heard_afterwards(), log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603 - our own commands, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                cwd=folder,
                start_new_session=True,
                preexec_fn=_beginning(os.getpid(), stop_by),
            )
            child = Child(name, process, log, stop_by)
            self.children.append(child)
        return child

    def wait_until_answers(self, child: Child, url: str, *, within: float) -> None:
        """Return when `url` answers below 500. Raises NotStartedError with the end of the log otherwise."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            if child.process.poll() is not None:
                raise NotStartedError(f"{child.name} ended with code {child.process.returncode}:\n{tail(child.log)}")
            if _answers(url):
                return
            time.sleep(POLL_SECONDS)
        raise NotStartedError(f"{child.name} did not answer on {url} within {within:.0f} s:\n{tail(child.log)}")

    def dismiss_ended(self, *, but: Child | None = None) -> list[Child]:
        """The processes other than `but` that ended by themselves; each is told once, and its group is cleared."""
        ended = [child for child in self.children if child is not but and child.process.poll() is not None]
        for child in ended:
            self.children.remove(child)
            _kill_group(child)
        return ended

    def keep_room(self) -> None:
        """Once a minute, call `make_room`, and let no log of what runs, nor of before, hold more than `log_mb` MB.

        0 lets them hold any.
        """
        if time.monotonic() - self._looked_at < LOGS_SECONDS:
            return
        self._looked_at = time.monotonic()
        # a full disk is no reason to end what serves
        with suppress(OSError):
            self.make_room()
        for child in self.children:
            with suppress(OSError):
                shorten(child.log, self.log_mb)

    def stop(self) -> None:
        """End every process, first asked for last started; what does not go in time is killed with its group."""
        for child in reversed(self.children):
            if _runs(child):
                os.kill(child.process.pid, child.stop_by)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for child in self.children:
            _wait_for(child, deadline)
            _kill_group(child)
        deadline = time.monotonic() + KILLED_SECONDS
        for child in self.children:
            _wait_for(child, deadline)
            child.process.poll()
        for child in self.children:
            _wait_for_group(child, deadline)
        self.children.clear()


@contextmanager
def asked_to_end() -> Iterator[list[int]]:
    """The signals to end that came during the block, as they come.

    An exception of theirs would be raised wherever the block is just then: in what drops it, or holds a lock.
    """
    asked: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda number, _frame: asked.append(number)) for one in signals}
    try:
        yield asked
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _heard_afterwards() -> Iterator[None]:
    """Let a signal to end that comes during the block do what it does once the block has ended."""
    with asked_to_end() as asked:
        yield
    for number in asked[:1]:
        signal.raise_signal(number)


def _runs(child: Child) -> bool:
    """Whether the process still runs, without collecting it.

    `Popen` knows too, behind a lock: an exception of a signal that came while it was asked leaves that closed, and
    its `wait` never returns.
    """
    if child.process.returncode is not None:
        return False
    try:
        return os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _wait_for(child: Child, deadline: float) -> None:
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS / 10)


def _kill_group(child: Child) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, signal.SIGKILL)


def _wait_for_group(child: Child, deadline: float) -> None:
    with suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(child.process.pid, 0)
            time.sleep(POLL_SECONDS / 10)


def _beginning(parent: int, stop_by: signal.Signals) -> Callable[[], None]:
    def begin() -> None:
        # a shell's background job ignores SIGINT, and hands that on: Dagster then orphans its code servers
        # whoever started us may ignore or block the other signals too, and a child that does outlives us
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, stop_by})
        for sign in (signal.SIGINT, stop_by):
            signal.signal(sign, signal.SIG_DFL)
        die_with_parent(parent, by=stop_by)

    return begin


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
