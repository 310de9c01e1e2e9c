"""The emulator: process 1 of the new namespaces. The kernel removes them when it exits."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from umtslab import _core
from umtslab.emulate import abandonment, memory, node, resolver, sandbox
from umtslab.emulate.faults import ActiveFaults
from umtslab.emulate.labels import Labels
from umtslab.emulate.meter import Meter
from umtslab.emulate.session import METRICS_VARIABLE, RECORDING, Session
from umtslab.exit_status import EMULATION_FAILED, WRONG
from umtslab.faults import CONTROL_VARIABLE
from umtslab.system_errors import reason
from umtslab.terminal_escape import escape_output

if TYPE_CHECKING:
    from umtslab.emulate.live_state import LiveState
    from umtslab.scenario import Scenario
    from umtslab.store.store import Draft

NAME_SERVER = "10.45.0.1"
"""Address of the server side, at which the name server of an emulation answers."""

PRIORITY = 50
"""SCHED_FIFO priority of the emulator: above all processes without a real-time priority, and not
above the kernel's interrupt threads."""


def main(arguments: list[str]) -> int:
    """Run an emulation. Returns its exit status.

    `arguments` are the descriptors of the parent's pipe and of the pipe with the session, followed
    by the folders of the control groups.
    """
    parent, session_pipe = (int(word) for word in arguments[:2])
    groups = arguments[2:]
    # Programs must inherit neither the pipe nor the memory setting.
    os.set_inheritable(parent, False)
    memory.forget(os.environ)
    # Ctrl-C is meant for the command. The command inherits the default action for SIGINT; the
    # signal is blocked in the emulator only.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(session_pipe, encoding="utf-8") as pipe:
        text = pipe.read()
    if not text:
        # The user's process has ended before it wrote the session.
        return EMULATION_FAILED
    session = Session.from_json(text)
    abandonment.watch(parent)
    servers = resolver.host_name_servers()
    output = _reserve_output() if session.json else None
    try:
        # Mounts /proc and /etc/resolv.conf of the new namespaces, so the host's name servers were read above.
        # With attached devices the command uses the host's network, including its name servers.
        _core.settle(None if session.wires else NAME_SERVER)
        return _emulate(session, parent, servers, groups, output)
    except _core.EmulationError as error:
        print(f"umts: {error}", file=sys.stderr)
        status: int = error.status
        return status
    except OSError as error:
        print(f"umts: {reason(error)}", file=sys.stderr)
        return EMULATION_FAILED
    except ValueError as error:
        print(f"umts: {error}", file=sys.stderr)
        return WRONG


def _reserve_output() -> TextIO:
    """Reserve standard output for this process. Programs write to standard error instead."""
    output = os.dup(1)
    os.dup2(2, 1)
    return open(output, "w", encoding="utf-8")


def _emulate(
    session: Session, parent: int, name_servers: list[str], groups: list[str], output: TextIO | None
) -> int:
    """Emulate the session and report the results. Returns the exit status."""
    from umtslab.emulate.report import print_json, print_summary
    from umtslab.emulate.results import account_of, read_program_metrics, run_of, store_run
    from umtslab.scenario import Scenario
    from umtslab.store import open_store

    # The imports are above, so that a missing library fails before the emulation and not after it.
    scenario = Scenario.parse(session.scenario, base_dir=session.base_dir)
    # Damage of the store is not reported here: the user's process has reported it.
    with open_store(session.store, tell=lambda _: None) as store, store.draft() as draft:
        metrics_file = draft.folder / "program-metrics.json"
        host = _HostHandles(parent, name_servers, groups)
        faults = ActiveFaults(scenario.core)
        result = _run(session, scenario, host, draft, metrics_file, faults)
        if result.abandoned:
            return EMULATION_FAILED
        account = account_of(result, _peak_memory(), faults.log())
        program_metrics = read_program_metrics(metrics_file)
        run, lost = run_of(session, scenario, result, draft, store, program_metrics), list(result.lost)
        try:
            run = store_run(session, scenario, run, draft, store, account)
        except (OSError, sqlite3.Error) as error:
            # An emulation cannot be repeated: print its results even if they cannot be stored.
            lost.append(f"cannot store the results: {reason(error)}")
    if session.meter:
        print_summary(session, scenario, result, run, program_metrics, faults.log())
    if output is not None:
        with output:
            print_json(account, run, output)
    for failure in lost:
        print(f"umts: {failure}", file=sys.stderr)
    return EMULATION_FAILED if lost else _exit_status(session, result)


@dataclass(frozen=True)
class _HostHandles:
    """Descriptors, addresses and folders that the emulator gets from the host's namespaces."""

    parent: int
    """Descriptor of a pipe that closes when the user's process ends. The emulation then ends
    too."""
    name_servers: list[str]
    """Name servers of the host."""
    groups: list[str]
    """Folders of the emulation's control groups. Each place gets a subgroup in them."""


def _run(
    session: Session,
    scenario: Scenario,
    host: _HostHandles,
    draft: Draft,
    metrics_file: Path,
    faults: ActiveFaults,
) -> _core.EmulationResult:
    """Run the network and its programs until the emulation ends."""
    labels = Labels()
    variables = [*session.variables, (METRICS_VARIABLE, str(metrics_file))]
    if session.control:
        variables.append((CONTROL_VARIABLE, session.control))
    live = _live_state(session, scenario, faults)
    world = sandbox.world(session, variables, labels, host.groups)
    labels.start()
    # From here on, the event loop watches the pipe.
    abandonment.stop_watching(host.parent)
    try:
        # The socket has threads: all processes were forked above. They start without the priority.
        with (
            _control_socket(session, faults),
            _live_socket(session, faults, live),
            _real_time_priority() as is_real_time,
            Meter(shown=session.meter) as meter,
        ):
            return _core.emulate(
                scenario.core,
                session.seed,
                world.command,
                parent=host.parent,
                places=world.places,
                ues=world.ues,
                servers=world.servers,
                internet=None if session.has_internet else _internet_command(session),
                resolver=_module_command("resolver", *host.name_servers) if session.has_internet else None,
                host_services=session.has_host_services,
                tcp=list(session.tcp),
                proxy=_proxy_command(session, draft),
                proxy_sides=(session.proxy_sides[0], session.proxy_sides[1]),
                wires=(session.wires[0], session.wires[1]) if session.wires else None,
                faults=faults.control if session.control or live else None,
                viewers=live.viewer if live else None,
                recording=str(draft.folder / RECORDING) if session.record else None,
                real_time=is_real_time,
                waits=session.waits,
                keep_flows=session.keep_flows,
                series=session.series,
                # Always set: the metrics of the programs' TCP are computed from captures at both
                # ends.
                pcap_dir=str(draft.captures),
                pdus=session.pcap,
                started=_show_start if session.meter else None,
                meter=_meter(session, meter, live),
                notice=meter.print_problem,
            )
    finally:
        labels.finish()


def _control_socket(session: Session, faults: ActiveFaults) -> AbstractContextManager[None]:
    """Accept orders about faults during a block, if the session has a control socket."""
    if not session.control:
        return nullcontext()
    # Only here, because HTTP takes a while to import.
    from umtslab.emulate.fault_server import served

    return served(session.control, faults)


def _live_state(session: Session, scenario: Scenario, faults: ActiveFaults) -> LiveState | None:
    """Return the source of the page's state; None if the emulation is not shown live."""
    if not session.live:
        return None
    from umtslab.emulate.live_state import LiveState

    return LiveState(session, scenario, faults)


def _live_socket(
    session: Session, faults: ActiveFaults, live: LiveState | None
) -> AbstractContextManager[None]:
    """Answer requests of ``umts serve`` during a block, if the emulation is shown live."""
    if live is None:
        return nullcontext()
    from umtslab.emulate.live_socket import shown

    return shown(session, faults, live)


def _meter(
    session: Session, meter: Meter, live: LiveState | None
) -> Callable[[Mapping[str, Any]], None] | None:
    """Return the function that receives the values of the meter; None if no output needs them."""
    if live is None:
        return meter.show if session.meter else None

    def show(reading: Mapping[str, Any]) -> None:
        live.keep(reading)
        meter.show(reading)

    return show


def _exit_status(session: Session, result: _core.EmulationResult) -> int:
    """Print the failures. Returns the exit status of the emulation."""
    from umtslab.emulate.failures import failures
    from umtslab.emulate.report import degraded_by

    failed = failures(session, result)
    for failure in failed:
        print(f"umts: {failure.message}", file=sys.stderr)
    if result.degraded and session.strict:
        print(f"umts: degraded: {degraded_by(result)} (--strict)", file=sys.stderr)
        return EMULATION_FAILED
    # A program may remove the TUN device of its own namespace. The loss of an attached device is an
    # error, because the emulation has no other connection.
    if session.wires and result.fidelity["devices_lost"]:
        print(
            "umts: an attached device was removed or renamed before the command ended, see above",
            file=sys.stderr,
        )
        return EMULATION_FAILED
    if result.status is None:
        return EMULATION_FAILED
    return result.status or next((failure.status for failure in failed), 0)


def _peak_memory() -> int:
    """Peak resident memory of this process, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


def _proxy_command(session: Session, draft: Draft) -> list[str] | None:
    """Return the proxy's command line; None without a proxy."""
    if not session.proxy:
        return None
    options = [*session.proxy, ("--log", str(draft.folder / node.LOG))]
    return _module_command("node", json.dumps(options))


def _show_start(tcp: dict[str, str], proxy: list[dict[str, str]], changes: list[str]) -> None:
    from umtslab.emulate.tcp import describe

    for change in changes:
        print(f"changed on this host until the emulation ends: {change}", file=sys.stderr)
    if tcp:
        print(describe(tcp, "kernel TCP"), file=sys.stderr)
    for side, peer in zip(proxy, ("servers", "users"), strict=False):
        print(describe(side, f"proxy, towards {peer}"), file=sys.stderr)
    sys.stderr.flush()


def _internet_command(session: Session) -> list[str]:
    """Return the command line of the built-in servers.

    With the meter on, they report when a ``--server`` already uses their HTTP port.
    """
    return _module_command("internet", *([] if session.meter else ["quiet"]))


def _module_command(name: str, *words: str) -> list[str]:
    return [sys.executable, "-m", f"umtslab.emulate.{name}", *words]


@contextmanager
def _real_time_priority() -> Iterator[bool]:
    """Run the block with SCHED_FIFO if the user may; yields whether it does.

    Child processes do not inherit the policy.
    """
    previous = os.sched_param(0)
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(0, policy, os.sched_param(PRIORITY))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, previous)


def _main() -> int:
    """Call `main`. Unexpected exceptions count as failure of the emulation, not of the command."""
    try:
        with escape_output():
            return main(sys.argv[1:])
    except SystemExit:
        # The user's process has ended.
        return EMULATION_FAILED
    except BaseException:
        traceback.print_exc()
        return EMULATION_FAILED


if __name__ == "__main__":
    sys.exit(_main())
