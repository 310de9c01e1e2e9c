"""``umts emulate``: real programs over the modelled network."""

from __future__ import annotations

import json as json_text
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.cli.failures import UsageError
from umtslab.cli.options import (
    RESULTS,
    add_budget,
    add_flag,
    add_out,
    add_quiet,
    add_seed,
    add_set,
    add_timeline,
    add_value,
    add_values,
    checked_seed,
    overrides,
)

if TYPE_CHECKING:
    from umtslab.cli.parser import Options, Parser
    from umtslab.emulate.node import Node, Pairs
    from umtslab.scenario import Scenario

FOREVER = "1000000 h"
"""Duration of the scenario. An emulation ends with its command."""


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts emulate``."""
    parser.explain(
        "The command runs in a network namespace whose only way out is the modelled bearer. At the "
        "server side every name and every address answers over HTTP (`curl http://any.name/` lists "
        "the pages). Nothing else is reachable.",
        "Exit status: the status of the command, or if it is 0, of a program of --ue or --server "
        "that failed before the command ended; 125 if the emulation failed or some results could not "
        "be written; 126 if the command is not executable, 127 if it is not found; 2 for wrong usage "
        "or input.",
    )
    _network(parser.add_argument_group("network"))
    _hosts(parser.add_argument_group("programs and hosts"))
    _results(parser.add_argument_group("recording and output"))
    parser.expect_program(dest="command", metavar="COMMAND", help="The program to run, after `--`.")


def _network(group: Options) -> None:
    add_value(
        group,
        "--bearer",
        "NAME",
        "A bearer listed by `umts bearers`: ps-384 (default), fach, fach-dch:att-2010@ps-384, "
        "trace:FILE, flat:wpt-3g-fast.",
    )
    group.add_argument(
        "--scenario",
        type=Path,
        metavar="FILE",
        help=(
            "A scenario file instead of a bearer. Its first UEs belong to the programs; flows of the "
            "other UEs are background traffic."
        ),
    )
    add_flag(
        group,
        "--keep-flows",
        "Simulate the scenario's flows of UEs that have a program too (default: the program replaces them).",
    )
    add_set(group, "`umts params` lists the keys")
    add_value(
        group,
        "--core-delay",
        "TIME",
        'One-way delay between the servers and the RNC, for example "20 ms" (default: the delay of '
        "the network).",
    )
    add_value(
        group, "--core-jitter", "TIME", "Random extra delay per packet, from 0 to TIME, without reordering."
    )
    add_value(
        group,
        "--core-loss",
        "SHARE",
        "Probability that a packet is lost in the core network, in each direction.",
    )
    add_value(
        group,
        "--rlc-buffer",
        "SIZE",
        'Capacity of the RLC buffer in each direction, for example "50 kB".',
    )
    add_value(
        group,
        "--bler",
        "SHARE",
        "Probability that a block is lost on the air, in each direction. For other error models use "
        "--set radio.model.",
    )
    add_seed(group)


def _hosts(group: Options) -> None:
    add_values(group, "--ue", "COMMAND", "Another command, run by the shell in the next UE; may be repeated.")
    add_flag(
        group,
        "--wait",
        "End the emulation when the command and the programs of all --ue have ended, not with the "
        "command alone. Ctrl-C after the end of the command stops waiting.",
    )
    add_values(
        group,
        "--server",
        "COMMAND",
        "A command run by the shell at the server side; may be repeated. If it listens on port 80, "
        "the built-in HTTP server leaves that port to it.",
    )
    add_value(
        group,
        "--tcp",
        "NAME",
        "Settings of the kernel's TCP: cubic, reno, bbr or linux-2.4-like (default: cubic).",
    )
    add_values(
        group,
        "--tcp-set",
        "NAME=VALUE",
        "A kernel setting, for example tcp_sack=0 or route.initcwnd=3; may be repeated.",
    )
    group.add_argument(
        "--proxy",
        metavar="NODE",
        nargs="?",
        const="",
        help=(
            "Split the programs' TCP connections in the kernel at a node: --proxy=ggsn (default), "
            "--proxy=rnc or another node. --core-delay and --core-loss then apply to the servers' "
            "side. Other traffic than TCP passes unchanged."
        ),
    )
    add_flag(
        group,
        "--internet",
        "Connect the server side to the host's network, IPv4 only. Requires root, and prints the "
        "changes that it makes to the host.",
    )
    add_flag(
        group,
        "--host-services",
        "With --internet: programs can also reach services on the host's own addresses.",
    )
    add_value(
        group,
        "--attach-ue",
        "DEVICE",
        "Connect two devices of this host by the radio instead of using namespaces, until the "
        "command ends (root): the device on the UE's side. Their configuration is not changed.",
    )
    add_value(group, "--attach-net", "DEVICE", "The device on the network's side.")
    group.add_argument(
        "--control",
        type=Path,
        metavar="PATH",
        help=(
            "Create a Unix socket at which programs add and remove faults during the run: block errors, "
            "slower links, a cut of the air. umtslab.faults is a client for tests."
        ),
    )


def _results(group: Options) -> None:
    add_out(group)
    add_flag(group, "--series", "Record time series for `umts plot`.")
    add_flag(
        group,
        "--pcap",
        "Write captures (pcapng): IP packets at server, RNC and UE, and RLC PDUs on the air.",
    )
    add_flag(group, "--record", "Record the packets that enter the network, for `umts replay`.")
    add_budget(group)
    add_timeline(group)
    add_flag(
        group,
        "--live",
        "Show the emulation in the view Live of `umts serve` with the same results folder, where visitors "
        "can also change rate, block errors and coverage.",
    )
    add_flag(group, "--strict", "Exit with status 125 if the machine was too slow for reliable results.")
    add_flag(
        group,
        "--json",
        "Print one JSON object as the only text on standard output; the standard output of the "
        "command goes to standard error.",
    )
    add_quiet(group, "Print no live values and no summary.")


def emulate(
    command: Sequence[str],
    *,
    bearer: str | None,
    scenario: Path | None,
    keep_flows: bool,
    changes: Sequence[str],
    core_delay: str | None,
    core_jitter: str | None,
    core_loss: str | None,
    rlc_buffer: str | None,
    bler: str | None,
    seed: int | None,
    ue: Sequence[str],
    wait: bool,
    server: Sequence[str],
    tcp: str | None,
    proxy: str | None,
    tcp_set: Sequence[str],
    internet: bool,
    host_services: bool,
    attach_ue: str | None,
    attach_net: str | None,
    control: Path | None,
    out: Path,
    series: bool,
    pcap: bool,
    record: bool,
    budget: bool,
    timeline: bool,
    live: bool,
    strict: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Run a command over the emulated network. `options` declares the arguments."""
    from umtslab.cli.results import open_results
    from umtslab.emulate.background import left_out
    from umtslab.emulate.command import emulate as run
    from umtslab.emulate.network import Core
    from umtslab.emulate.session import Session
    from umtslab.emulate.tcp import settings as kernel_settings
    from umtslab.live_sockets import new_name

    if not command:
        raise UsageError(
            "no command: put it after --, for example umts emulate -- curl http://example.com/bytes/100000"
        )
    if internet and os.geteuid() != 0:
        raise UsageError(
            "--internet changes the host's network and requires root: sudo umts emulate --internet …"
        )
    if host_services and not internet:
        raise UsageError("--host-services requires --internet: otherwise programs cannot reach the host")
    chosen_seed = checked_seed(seed)
    settings = overrides(changes)
    if timeline:
        settings += (("measure.timeline", "true"),)
        budget = series = True
    settings += (("measure.budget", "true"),) if budget else ()
    if any(key == "duration" for key, _ in settings):
        raise UsageError(
            "duration cannot be set: an emulation ends with its command. timeout 30 COMMAND ends it "
            "after 30 s"
        )
    loaded = _scenario(bearer, scenario, 1 + len(ue), settings)
    for option, value, core in (
        ("--core-delay", core_delay, Core(delay=core_delay)),
        ("--core-jitter", core_jitter, Core(jitter=core_jitter)),
        ("--core-loss", core_loss, Core(loss=core_loss)),
        ("--rlc-buffer", rlc_buffer, Core(buffer=rlc_buffer)),
        ("--bler", bler, Core(bler=bler)),
    ):
        if value is not None:
            loaded = _changed(loaded, core.overrides(loaded), f"{option} {value}")
    if proxy is not None:
        loaded = _with_proxy(loaded, proxy)
    for warning in loaded.warnings:
        # This warning does not apply: without flows the network carries the traffic of programs.
        if not (quiet or warning.startswith("flow: there is no flow")):
            print(f"warning: {warning}", file=sys.stderr)
    omitted_flows = None if keep_flows else left_out(loaded, 1 + len(ue))
    if omitted_flows and not quiet:
        print(omitted_flows, file=sys.stderr)
    try:
        pairs = kernel_settings(tcp, tuple(tcp_set))
    except ValueError as error:
        raise UsageError(str(error)) from error
    socket = _control_socket(control)
    node = _node(loaded, pairs, has_option=proxy is not None, is_attached=attach_ue is not None)
    session = Session(
        scenario=loaded.to_toml(),
        base_dir=os.path.abspath(scenario.parent if scenario is not None else Path()),
        seed=loaded.seed if chosen_seed is None else chosen_seed,
        command=tuple(command),
        ues=tuple(ue),
        servers=tuple(server),
        tcp=pairs,
        store=os.path.abspath(out),
        series=series,
        pcap=pcap,
        record=record,
        control=socket,
        live=new_name() if live else "",
        strict=strict,
        keep_flows=keep_flows,
        waits=wait,
        meter=not quiet,
        json=json,
        has_internet=internet,
        has_host_services=host_services,
        proxy=node.options if node else (),
        proxy_sides=node.sides if node else ((), ()),
        wires=_attached_devices(
            attach_ue, attach_net, is_only_option=not (internet or ue or server or tcp or tcp_set)
        ),
    )
    # Check before the emulation starts that the results can be written.
    open_results(out).close()
    if live and not quiet:
        words = "" if out == RESULTS else f" {shlex.quote(str(out))}"
        print(f"live: umts serve{words} shows this emulation in the view Live", file=sys.stderr)
    return run(session)


def _control_socket(path: Path | None) -> str:
    """Return the absolute path of the control socket; empty without one."""
    if path is None:
        return ""
    from umtslab.emulate.fault_server import checked_path

    try:
        return checked_path(path)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _changed(scenario: Scenario, keys: tuple[tuple[str, str], ...], typed: str) -> Scenario:
    """Apply the scenario keys of an option.

    An error about a key names the option `typed`, as it stands on the command line.
    """
    from umtslab._core import ScenarioError

    try:
        return scenario.with_overrides(keys)
    except ScenarioError as error:
        raise UsageError(f"{typed} sets the scenario key {error.key}\n{error}") from None


def _with_proxy(scenario: Scenario, at: str) -> Scenario:
    """Return the scenario with a splitting proxy at node `at`.

    If `at` is empty, the proxy is at the node of the scenario's own proxy, or at the default node.
    """
    from umtslab.emulate.node import changes_for

    keys = changes_for(_proxy(scenario), at)
    return _changed(scenario, keys, f"--proxy={at}" if at else "--proxy")


def _proxy(scenario: Scenario) -> dict[str, Any] | None:
    """Return the table `proxy` of the scenario; None if it has none."""
    table: dict[str, Any] | None = json_text.loads(scenario.core.to_json()).get("proxy")
    return table


def _node(scenario: Scenario, tcp: Pairs, *, has_option: bool, is_attached: bool) -> Node | None:
    """Return the proxy for programs, or None if no proxy splits their connections.

    `has_option` is whether ``--proxy`` was given, `is_attached` whether ``--attach-ue`` was.
    """
    from umtslab.emulate.node import node_of, splits_programs

    proxy = _proxy(scenario)
    if proxy is None:
        return None
    if is_attached and has_option:
        raise UsageError("--proxy cannot be used with --attach-ue: it needs network namespaces")
    if is_attached or not (has_option or splits_programs(proxy)):
        if proxy["mode"] != "pass":
            print(
                "warning: proxy: the proxy applies to simulated users only; programs pass it", file=sys.stderr
            )
        return None
    try:
        return node_of(proxy, tcp)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _attached_devices(ue: str | None, net: str | None, *, is_only_option: bool) -> tuple[str, ...]:
    """Return the two devices to attach, on the UE's and on the network's side; () without the options.

    `is_only_option` is whether no option that needs namespaces was given.
    """
    if ue is None and net is None:
        return ()
    if ue is None or net is None:
        raise UsageError(
            "--attach-ue and --attach-net must be given together: the radio connects two devices"
        )
    if not is_only_option:
        raise UsageError(
            "--attach-ue uses no namespaces: remove --internet, --ue, --server, --tcp and --tcp-set"
        )
    if os.geteuid() != 0:
        raise UsageError("--attach-ue and --attach-net use devices of this host and require root")
    return (ue, net)


def _scenario(
    bearer: str | None, file: Path | None, ues: int, changes: tuple[tuple[str, str], ...]
) -> Scenario:
    """Load the scenario file or build the network of a bearer, with at least `ues` UEs."""
    from umtslab.emulate.network import DEFAULT, of_bearer
    from umtslab.scenario import Scenario, named_classes

    forever = (*changes, ("duration", FOREVER))
    if file is not None:
        if bearer is not None:
            raise UsageError("--bearer and --scenario exclude each other: give one of them")
        scenario = Scenario.load(file, forever)
        content = json_text.loads(scenario.core.to_json())
        ue_count = sum(group.get("count", 0) for group in content["ue"])
        if ue_count < ues:
            raise UsageError(f"{file} has {ue_count} UEs, but the command and the --ue options need {ues}")
        if any(flow["tcp"]["variant"] == "python" for flow in content.get("flow", [])):
            raise UsageError(
                "congestion control in Python works in simulated time only: choose another tcp.variant"
            )
        if any(named_classes([content.get("cell"), content.get("bearer")])):
            raise UsageError(
                "a scheduler in Python works in simulated time only: choose a built-in discipline instead"
            )
        return scenario
    name = DEFAULT if bearer is None else bearer
    try:
        text = of_bearer(name, ues)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return Scenario.parse(text, name=f"--bearer {name}", overrides=forever)
