"""Programs beside the command that went wrong."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from umtslab import _core
from umtslab.emulate.sandbox import server_labels, ue_label
from umtslab.emulate.session import Session
from umtslab.exit_status import EMULATION_FAILED


@dataclass(frozen=True)
class Failure:
    """One of them."""

    told: str
    status: int
    """What the emulation exits with if the command was well; 0 if that changes nothing."""


def failures(session: Session, result: _core.EmulationResult) -> list[Failure]:
    """What went wrong before the command ended; what ran until then was ended with it, and is no failure.

    The emulation exits with the status of a program in a UE, or of a server, that failed. A server that ended
    with status 0 is no failure: the command may have ended it.
    """
    found = [
        Failure(_told(ue_label(1 + number), words, status), status)
        for number, (words, status) in enumerate(zip(session.ues, result.ues, strict=False))
        if status
    ]
    found += [
        Failure(_told(label, words, status), status)
        for label, words, status in zip(
            server_labels(len(session.servers)), session.servers, result.servers, strict=False
        )
        if status
    ]
    if result.internet is not None:
        what = "name server" if session.has_internet else "built-in servers"
        told = f"the {what} ended with {result.internet} while the command ran: nobody answered from then on"
        found.append(Failure(told, 0))
    if result.proxy is not None:
        told = f"the proxy ended with {result.proxy} while the command ran: connections of then were reset"
        found.append(Failure(told, EMULATION_FAILED))
    return sorted(found, key=lambda failure: failure.status == 0)


def _told(label: str, words: str, status: int) -> str:
    return f"the program of {label}, {shlex.quote(words)}, ended with {status}"
