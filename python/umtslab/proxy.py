"""Transparent proxies: a supervisor that cleans up the kernel's network, and checks of the host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from umtslab import _core
from umtslab.exit_status import FAILED

_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class RunProxy(Protocol):
    """Function that runs the proxy to its end and returns the exit status."""

    def __call__(self, *, guard: int | None) -> int:
        """Run the proxy.

        `guard` is the read end of a pipe. The supervisor holds the write end, which closes when the
        supervisor exits.
        """


def clean() -> list[str]:
    """Remove rules of killed proxies from the kernel's network. Returns the lines of a report."""
    if os.geteuid() != 0:
        return []
    try:
        removed, in_use = _core.clean_proxies(keep_refusals=False, waits=True)
    except OSError as error:
        remaining = _core.rules_left()
        return [f"cannot remove {remaining} policy rules of killed proxies: {error}"] if remaining else []
    lines = [f"removed {removed} rules of killed proxies"] if removed else []
    if in_use:
        lines.append(f"{in_use} proxies are still running or about to end: their rules stay")
    return lines


def doctor_rows() -> Iterator[tuple[str, str, str]]:
    """Yield rows for ``umts doctor``: proxy support and conflicts on this host.

    Interception is tried out in a separate process.
    """
    error_text = _error_of("from umtslab import _core; _core.leave_host(False); _core.try_interception('lo')")
    yield "TPROXY", "yes" if error_text is None else "no", error_text or "umts proxy --transparent"
    try:
        count = _core.proxies_at_work()
    except OSError as error:
        yield "proxies", "unknown", str(error)
        return
    if remaining := _core.rules_left():
        yield "policy rules", str(remaining), "left by killed proxies: umts doctor --clean removes them"
    if count == 0:
        yield "proxies", "0", "no proxy intercepts connections in this network namespace"
        return
    yield (
        "proxies",
        str(count),
        "; ".join(_conflicting_settings()) or "no setting of this host keeps packets from them",
    )


def _conflicting_settings() -> Iterator[str]:
    """Yield settings of the host that keep packets from a running proxy."""
    if _sysctl("net/ipv4/ip_forward") == "0":
        yield (
            "net.ipv4.ip_forward is 0: the host does not forward other traffic than TCP, or TCP of "
            "other ports"
        )
    bridges = [folder.parent.name for folder in Path("/sys/class/net").glob("*/brport")]
    if bridges:
        names = ", ".join(sorted(bridges))
        yield (
            f"{names}: ports of a bridge: name the bridge in --from; frames between its ports do not "
            "reach the proxy"
        )
    strict = [
        folder.name
        for folder in Path("/proc/sys/net/ipv4/conf").iterdir()
        if _sysctl(f"net/ipv4/conf/{folder.name}/rp_filter") == "1"
    ]
    if strict:
        names = ", ".join(sorted(strict))
        yield (
            f"rp_filter is strict ({names}): packets that arrive by another device than the answers "
            "leave by are dropped"
        )


def _sysctl(name: str) -> str | None:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return None


def _error_of(program: str) -> str | None:
    """Run a program in a separate Python process.

    Returns the last line of its error, or None on success.
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def run_guarded(run_proxy: RunProxy) -> int:
    """Run the proxy in a child process, and clean up after it.

    This process drops all privileges that the clean-up does not need. It forwards signals, except
    those that were ignored at its start. If the child is killed, this process removes the rules
    that the child set up. If this process is killed, the child reports it and exits.
    """
    forwarded = [number for number in _FORWARDED if signal.getsignal(number) != signal.SIG_IGN]
    signals = {*forwarded, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    # This process never closes the write end, so it closes when this process exits.
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write_end)
        _run_in_child(run_proxy, read_end, signals)
    os.close(read_end)
    _core.guard_proxy()
    status = _wait(pid, signals)
    killed = status < 0
    # If the process lacks the right to clean up, the child cannot have set up anything.
    with suppress(PermissionError):
        # A killed proxy may have installed rules that refuse connections on purpose. These stay.
        _core.clean_proxies(keep_refusals=killed, waits=False)
    if not killed:
        return status
    print(f"umts: the proxy was killed ({signal.Signals(-status).name})", file=sys.stderr)
    return FAILED


def _run_in_child(run_proxy: RunProxy, guard: int, signals: Iterable[int]) -> None:
    """Run the proxy in the child, and exit.

    The child has its own process group, so that Ctrl-C in a terminal reaches it once, through the
    parent.
    """
    status = FAILED
    try:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        status = run_proxy(guard=guard)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(pid: int, signals: Iterable[int]) -> int:
    """Forward signals until the child exits. Returns its status, negative if a signal killed it."""
    while True:
        exited_pid, status = os.waitpid(pid, os.WNOHANG)
        if exited_pid:
            return os.waitstatus_to_exitcode(status)
        received = signal.sigwait(signals)
        if received != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(pid, received)
