"""``umts emulate``: real programs over the modelled network."""

from __future__ import annotations

import json as json_text
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULTS, Out, overrides
from umtslab.cli.results import open_results
from umtslab.scenario import Scenario

if TYPE_CHECKING:
    from umtslab.emulate.network import Core

FOREVER = "1000000 h"


def emulate(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    bearer: str | None = None,
    scenario: Path | None = None,
    ue: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    server: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    set_: Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=False)] = (),
    tcp: str | None = None,
    tcp_set: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    core_delay: str | None = None,
    core_jitter: str | None = None,
    core_loss: str | None = None,
    rlc_buffer: str | None = None,
    bler: str | None = None,
    internet: bool = False,
    attach_ue: str | None = None,
    attach_net: str | None = None,
    seed: int | None = None,
    out: Out = RESULTS,
    series: bool = False,
    pcap: bool = False,
    record: bool = False,
    budget: bool = False,
    strict: bool = False,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Run a command over the emulated radio access network.

    The command runs in a network of its own, of which the only way out is the modelled bearer. Behind it
    every name and every address answers over HTTP (`curl http://any.name/` tells what), and nothing else
    is in reach.

    Exit status: that of the command; 125 if the emulation itself failed, 126 or 127 if the command cannot
    be run or is not there, 2 for wrong usage or input.

    Parameters
    ----------
    command
        What to run, behind `--`.
    bearer
        One of `umts bearers`: ps-384 (the default), fach, fach-dch:att-2010, trace:FILE, flat:wpt-3g-fast.
    scenario
        A scenario file instead: its first UEs are the programs', its flows are background traffic.
    ue
        Another command, run by the shell in the next UE; may be repeated.
    server
        A command run by the shell at the server side; may be repeated.
    set_
        KEY=VALUE: another value for a scenario key, whatever `umts params` lists; may be repeated.
    tcp
        How the kernel's TCP behaves: cubic, reno, bbr or linux-2.4-like (default: cubic).
    tcp_set
        NAME=VALUE: one kernel setting, as in tcp_sack=0 or route.initcwnd=3; may be repeated.
    core_delay
        Delay one way between the servers and the RNC, as in "20 ms" (default: the network's own).
    core_jitter
        Up to so much more for each packet; packets keep their order.
    core_loss
        Probability that a packet is lost there, each way.
    rlc_buffer
        Room for packets in front of the radio, in each direction, as in "50 kB".
    bler
        Probability that a block is lost on the air, each way; other error processes by --set radio.model.
    internet
        The host's network is behind the server side, IPv4 only. Takes root, and says what it changes there.
    attach_ue
        A device of this host that the radio joins to another, in place of namespaces, as long as the command
        runs (root): the UE's side. Nothing of the two is changed.
    attach_net
        The other one: the network's side.
    seed
        Seed of the random streams (default: the scenario's own).
    out
        Where results go.
    series
        Record time series, which `umts plot` draws.
    pcap
        Keep captures (pcapng) of IP packets at server, RNC and UE, and of RLC's PDUs on the air.
    record
        Keep the packets that came in, for `umts replay`.
    budget
        Divide the time of every TCP connection among its causes: --set measure.budget=true.
    strict
        Exit with 125 if the machine was too slow for the results to be trusted.
    json
        Print one JSON object on standard output and nothing else there: what the command writes to its
        standard output goes to standard error.
    quiet
        No meter, no summary.
    """
    from umtslab.emulate.command import emulate as run
    from umtslab.emulate.network import Core
    from umtslab.emulate.session import Session
    from umtslab.emulate.tcp import settings

    if not command:
        raise UsageError(
            "no command: put it behind --, as in umts emulate -- curl http://example.com/bytes/100000"
        )
    if internet and os.geteuid() != 0:
        raise UsageError(
            "--internet changes the host's network, so it takes root: sudo umts emulate --internet …"
        )
    if command[0].startswith("-"):
        raise UsageError(f"there is no option {command[0]}: umts emulate --help lists them")
    if seed is not None and not 0 <= seed < 2**64:
        raise UsageError(f"--seed takes a number from 0 to 2^64 - 1, not {seed}")
    changes = overrides(set_) + ((("measure.budget", "true"),) if budget else ())
    if any(key == "duration" for key, _ in changes):
        raise UsageError("an emulation lasts as long as its command: timeout 30 COMMAND ends it after 30 s")
    loaded = _scenario(bearer, scenario, 1 + len(ue), changes)
    for option, value, core in (
        ("--core-delay", core_delay, Core(delay=core_delay)),
        ("--core-jitter", core_jitter, Core(jitter=core_jitter)),
        ("--core-loss", core_loss, Core(loss=core_loss)),
        ("--rlc-buffer", rlc_buffer, Core(buffer=rlc_buffer)),
        ("--bler", bler, Core(bler=bler)),
    ):
        if value is not None:
            loaded = _changed(loaded, core, f"{option} {value}")
    for warning in loaded.warnings:
        # Without flows of its own the network carries what the programs send.
        if not (quiet or warning.startswith("flow: there is no flow")):
            print(f"warning: {warning}", file=sys.stderr)
    try:
        pairs = settings(tcp, tcp_set)
    except ValueError as error:
        raise UsageError(str(error)) from error
    session = Session(
        scenario=loaded.to_toml(),
        base_dir=os.path.abspath(scenario.parent if scenario is not None else Path()),
        seed=loaded.seed if seed is None else seed,
        command=command,
        ues=ue,
        servers=server,
        tcp=pairs,
        store=os.path.abspath(out),
        series=series,
        pcap=pcap,
        record=record,
        strict=strict,
        meter=not quiet,
        json=json,
        has_internet=internet,
        wires=_wires(attach_ue, attach_net, alone=not (internet or ue or server or tcp or tcp_set)),
    )
    # Whether there is a place for the results is told before anything runs.
    open_results(out).close()
    return run(session)


def _changed(scenario: Scenario, core: Core, typed: str) -> Scenario:
    """The scenario with an option's keys; an error about one of them names the option, as it was typed."""
    from umtslab._core import ScenarioError

    try:
        return scenario.with_overrides(core.overrides(scenario))
    except ScenarioError as error:
        raise UsageError(f"{typed} stands for the scenario key {error.key}\n{error}") from None


def _wires(ue: str | None, net: str | None, *, alone: bool) -> tuple[str, ...]:
    if ue is None and net is None:
        return ()
    if ue is None or net is None:
        raise UsageError("--attach-ue and --attach-net go together: the radio is between two devices")
    if not alone:
        raise UsageError(
            "between two devices there are no namespaces: leave out --internet, --ue, --server, --tcp"
        )
    if os.geteuid() != 0:
        raise UsageError("--attach-ue and --attach-net use this host's devices, so they take root")
    return (ue, net)


def _scenario(
    bearer: str | None, file: Path | None, ues: int, changes: tuple[tuple[str, str], ...]
) -> Scenario:
    from umtslab.emulate.network import DEFAULT, of_bearer

    forever = (*changes, ("duration", FOREVER))
    if file is not None:
        if bearer is not None:
            raise UsageError("--bearer and --scenario both name the network: give one of them")
        scenario = Scenario.load(file, forever)
        content = json_text.loads(scenario.core.to_json())
        there = sum(group["count"] for group in content["ue"])
        if there < ues:
            raise UsageError(f"{file} has {there} UEs, but the command and each --ue take one: {ues}")
        if any(flow["tcp"]["variant"] == "python" for flow in content.get("flow", [])):
            raise UsageError(
                "congestion control in Python runs in simulated time only: choose another variant"
            )
        return scenario
    name = bearer or DEFAULT
    try:
        text = of_bearer(name, ues)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return Scenario.parse(text, name=f"--bearer {name}", overrides=forever)
