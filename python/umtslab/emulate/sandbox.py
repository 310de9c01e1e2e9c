"""The programs of an emulation. Each waits in its sandbox until the network is ready.

Only a single-threaded process can enter a user namespace, and no process can leave one. Therefore
the emulator forks a process for each place, to build it, and one for each program, before any
thread is started (``crates/emulate/src/programs/sandbox.rs``).
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
"""SCHED_FIFO priority of programs, below the emulator's."""

LIMITS = {resource.RLIMIT_RTPRIO: PRIORITY, resource.RLIMIT_NICE: 40}
"""Resource limits with which programs of root may still raise their priority. In a user namespace
the kernel grants priority by these limits alone. 40 for RLIMIT_NICE permits a nice value of -20."""


@dataclass(frozen=True)
class World:
    """The places of an emulation, first the server side and then the UEs, and their waiting programs.

    A place is the sandbox of a host. `command` is the program of UE 0, `ues` are the programs of
    the other UEs.
    """

    places: list[_core.Place]
    command: _core.Waiting
    ues: list[_core.Waiting]
    servers: list[_core.Waiting]


def world(
    session: Session, variables: Sequence[tuple[str, str]], labels: Labels, groups: Sequence[str] = ()
) -> World:
    """Create the places and the waiting programs of a session.

    With attached devices there are no places, and the command runs in the namespaces of this
    process. `labels` prefixes the output of programs beside the command. Each place has its own
    control group below `groups`.

    Raises
    ------
    OSError
        If the kernel cannot create the places.
    """
    programs = [list(session.command), *map(_shell, session.ues)]
    if session.wires:
        command = _fork_program(session, programs[0], variables, sandbox=None, has_terminal=True)
        return World(places=[], command=command, ues=[], servers=[])
    place_groups = [_ControlGroup(groups, f"place-{number}") for number in range(1 + len(programs))]
    server_group, *ue_groups = place_groups
    server_side, *ues = places = [place(group) for group in place_groups]
    writers = [None, *(labels.writer(ue_label(ue)) for ue in range(1, len(programs)))]
    command, *others = (
        _fork_program(session, words, variables, sandbox, group, writer, has_terminal=sandbox is ues[0])
        for words, sandbox, group, writer in zip(programs, ues, ue_groups, writers, strict=True)
    )
    servers = [
        _fork_program(session, _shell(words), variables, server_side, server_group, labels.writer(label))
        for words, label in zip(session.servers, server_labels(len(session.servers)), strict=True)
    ]
    return World(places=places, command=command, ues=others, servers=servers)


def ue_label(ue: int) -> str:
    """Label of the program in a UE. The command runs in UE 0."""
    return f"UE {ue}"


def server_labels(count: int) -> list[str]:
    """Labels of the programs on the server side."""
    return ["server"] if count == 1 else [f"server {number}" for number in range(count)]


@dataclass(frozen=True)
class _ControlGroup:
    """The control group of one place, in each hierarchy of the machine."""

    groups: Sequence[str]
    name: str

    def enter(self) -> None:
        """Move this process into the control group."""
        control_groups.enter(self.groups, self.name)


def place(group: _ControlGroup | None = None) -> _core.Place:
    """Create a place: the sandbox of a host, in which programs run."""
    new_place = _core.Place()

    def build() -> None:
        # The root of the place's cgroup namespace is the group of this process.
        if group is not None:
            group.enter()
        new_place.build()

    builder = _fork(build)
    try:
        new_place.around(builder)
    finally:
        os.waitpid(builder, 0)
    return new_place


def _fork_program(
    session: Session,
    words: Sequence[str],
    variables: Sequence[tuple[str, str]],
    sandbox: _core.Place | None,
    group: _ControlGroup | None = None,
    writer: int | None = None,
    *,
    has_terminal: bool = False,
) -> _core.Waiting:
    """Create a process that waits to become a program, in place `sandbox` or, if None, without a sandbox.

    `writer` is a descriptor that replaces the standard error of the program.
    """
    program = _core.Waiting(words, variables, has_terminal=has_terminal)

    def become() -> None:
        if group is not None:
            group.enter()
        if writer is not None:
            os.dup2(writer, 2)
        if session.are_prompt:
            with suppress(OSError):
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        if sandbox is not None:
            _raise_limits()
        program.become(sandbox)

    program.is_process(_fork(become))
    return program


def _raise_limits() -> None:
    """Raise the limits to `LIMITS` if the user may, as root may."""
    for limit, value in LIMITS.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def _fork(work: Callable[[], None]) -> int:
    """Fork a process that does `work` and exits. Returns the process number.

    The process prints no errors: `work` reports errors to the emulator.
    """
    pid = os.fork()
    if pid == 0:
        _run_and_exit(work)
    return pid


def _run_and_exit(work: Callable[[], None]) -> NoReturn:
    try:
        with suppress(OSError):
            work()
    finally:
        os._exit(1)


def _shell(words: str) -> list[str]:
    return ["/bin/sh", "-c", words]
