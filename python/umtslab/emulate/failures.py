"""Failures of the programs that run beside the command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from umtslab import _core
from umtslab.emulate.sandbox import server_labels, ue_label
from umtslab.emulate.session import Session
from umtslab.exit_status import EMULATION_FAILED


@dataclass(frozen=True)
class Failure:
    """Failure of a program beside the command."""

    message: str
    status: int
    """Exit status of the emulation if the command succeeds; 0 if the failure does not change it."""


def failures(session: Session, result: _core.EmulationResult) -> list[Failure]:
    """Return the failures before the end of the command, those that set the exit status first.

    Programs that still ran when the command ended were stopped then, which is not a failure. The
    emulation exits with the status of a failed program of a UE or of a failed server. A server that
    exited with status 0 has not failed: the command may have stopped it.
    """
    all_failures = [
        Failure(_message(ue_label(1 + number), words, status), status)
        for number, (words, status) in enumerate(zip(session.ues, result.ues, strict=False))
        if status
    ]
    all_failures += [
        Failure(_message(label, words, status), status)
        for label, words, status in zip(
            server_labels(len(session.servers)), session.servers, result.servers, strict=False
        )
        if status
    ]
    if result.internet is not None:
        service = "name server" if session.has_internet else "built-in servers"
        message = (
            f"the {service} ended with status {result.internet} while the command ran: later requests "
            "were not answered"
        )
        all_failures.append(Failure(message, status=0))
    if result.proxy is not None:
        message = (
            f"the proxy ended with status {result.proxy} while the command ran: its connections were reset"
        )
        all_failures.append(Failure(message, status=EMULATION_FAILED))
    return sorted(all_failures, key=lambda failure: failure.status == 0)


def _message(label: str, words: str, status: int) -> str:
    return f"the program of {label}, {shlex.quote(words)}, ended with status {status}"
