"""The programs of an emulation, each a process that waits behind walls until the network is there.

Walls go around a process of one thread, which cannot leave them again: so the emulator forks one that builds
a place, and one for each program, before it starts any thread (``crates/emulate/src/programs/sandbox.rs``).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from umtslab import _core
from umtslab.emulate import control_groups
from umtslab.emulate.labels import Labels
from umtslab.emulate.session import Session

PRIORITY = 40
"""Of SCHED_FIFO, for programs: below the emulator's."""

LIMITS = {resource.RLIMIT_RTPRIO: PRIORITY, resource.RLIMIT_NICE: 40}
"""Root's programs may still ask for priority: behind walls the kernel grants it by these limits alone. The
second one says: as nice as -20."""


@dataclass(frozen=True)
class World:
    """Places in their order, the server side's first, and the programs that wait in them."""

    places: list[_core.Place]
    command: _core.Waiting
    ues: list[_core.Waiting]
    servers: list[_core.Waiting]


def world(
    session: Session, variables: Sequence[tuple[str, str]], labels: Labels, groups: Sequence[str] = ()
) -> World:
    """The world of a session; between given devices its command runs where this process does.

    What programs beside the command write gets their names in front, by `labels`. Each place has a control
    group of its own in these `groups`.

    Raises
    ------
    OSError
        If the kernel makes no such places.
    """
    programs = [list(session.command), *map(_shell, session.ues)]
    if session.wires:
        return World([], _waiting(session, programs[0], variables, None, has_terminal=True), [], [])
    homes = [_Home(groups, f"place-{number}") for number in range(1 + len(programs))]
    server_home, *ue_homes = homes
    server_side, *ues = places = [place(home) for home in homes]
    writers = [None, *(labels.writer(ue_label(ue)) for ue in range(1, len(programs)))]
    command, *others = (
        _waiting(session, words, variables, where, home, writer, has_terminal=where is ues[0])
        for words, where, home, writer in zip(programs, ues, ue_homes, writers, strict=True)
    )
    servers = [
        _waiting(session, _shell(words), variables, server_side, server_home, labels.writer(label))
        for words, label in zip(session.servers, server_labels(len(session.servers)), strict=True)
    ]
    return World(places, command, others, servers)


def ue_label(ue: int) -> str:
    """The name of the program in a UE; the command's is 0."""
    return f"UE {ue}"


def server_labels(count: int) -> list[str]:
    """The names of servers of the user's own."""
    return ["server"] if count == 1 else [f"server {number}" for number in range(count)]


@dataclass(frozen=True)
class _Home:
    """The control group of a place, in each hierarchy of the machine."""

    groups: Sequence[str]
    name: str

    def enter(self) -> None:
        """Move this process there."""
        control_groups.enter(self.groups, self.name)


def place(home: _Home | None = None) -> _core.Place:
    """A place for programs, with walls around it."""
    made = _core.Place()

    def build() -> None:
        # Its cgroup namespace begins at the group in which this process is.
        if home is not None:
            home.enter()
        made.build()

    builder = _fork(build)
    try:
        made.around(builder)
    finally:
        os.waitpid(builder, 0)
    return made


def _waiting(
    session: Session,
    words: Sequence[str],
    variables: Sequence[tuple[str, str]],
    where: _core.Place | None,
    home: _Home | None = None,
    writer: int | None = None,
    *,
    has_terminal: bool = False,
) -> _core.Waiting:
    """A program that waits in a place, or where this process is; it writes to `writer`, if there is one."""
    program = _core.Waiting(words, variables, has_terminal=has_terminal)

    def become() -> None:
        if home is not None:
            home.enter()
        if writer is not None:
            os.dup2(writer, 2)
        if session.are_prompt:
            with suppress(OSError):
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        if where is not None:
            _raise_limits()
        program.become(where)

    program.is_process(_fork(become))
    return program


def _raise_limits() -> None:
    """As far as this user may, as root of a machine may."""
    for limit, value in LIMITS.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def _fork(work: Callable[[], None]) -> int:
    """The number of a process that does this and ends: the other end is told what went wrong."""
    pid = os.fork()
    if pid == 0:
        _work(work)
    return pid


def _work(work: Callable[[], None]) -> NoReturn:
    try:
        with suppress(OSError):
            work()
    finally:
        os._exit(1)


def _shell(words: str) -> list[str]:
    return ["/bin/sh", "-c", words]
