"""The proxy of an emulation: the options, and the main function of the process.

The proxy runs in its own namespace between the links, where the kernel's TCP terminates the programs'
connections: ``umts proxy --transparent`` (``crates/proxy``) on the two devices of
``crates/emulate/src/devices/proxy.rs``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from umtslab import _core
from umtslab.quantity import quantity

LOG = "proxy.jsonl"
"""Log in the folder of an emulation, with a line for each connection that has ended."""

DEVICES = "servers,users"
"""The two devices on which the proxy intercepts: towards the servers, and towards the users."""

DEFAULT_NODE = "ggsn"
"""Default node of the proxy."""

_RECEIVE_BUFFER = 131_072
"""Default receive buffer in bytes, the initial value of Linux. The kernel offers half of it as window."""

_MIN_BUFFER = 16_000
"""Minimum buffer in bytes: two segments in each part of the buffer, in the kernel's accounting."""

_SEGMENT = 1460
"""Payload of a full segment in bytes, for sizes in segments."""

_KERNEL_NAMES = {"newreno": "reno", "sack": "reno", "fack": "reno"}
"""Kernel names of the simulator's TCP variants, if they differ. The three variants differ in loss recovery
only, and the kernel always uses its own."""

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Node:
    """Configuration of a proxy."""

    options: Pairs
    """Options of ``umts proxy``, except ``--log``."""
    sides: tuple[Pairs, Pairs]
    """TCP settings towards the servers and towards the users: kernel variables and route
    metrics."""


def changes_for(proxy: Mapping[str, Any] | None, at: str) -> tuple[tuple[str, str], ...]:
    """Return overrides that put a splitting proxy at node `at`.

    If `at` is empty, the node is the one of `proxy`, or `DEFAULT_NODE`.
    """
    place = at or (proxy or {}).get("at", DEFAULT_NODE)
    return (("proxy.at", place), ("proxy.mode", "split"))


def splits_programs(proxy: Mapping[str, Any] | None) -> bool:
    """Whether a scenario's proxy acts on programs: it splits, unrestricted by flows or ports."""
    return proxy is not None and proxy["mode"] == "split" and not proxy["flows"] and not proxy.get("ports")


def node_of(proxy: Mapping[str, Any], tcp: Pairs) -> Node:
    """Return the kernel proxy's configuration for ``[proxy]`` of a scenario.

    `tcp` has the settings of both sides; the tables of a side take precedence.

    Raises
    ------
    ValueError
        If the scenario uses something that the kernel's proxy lacks.
    """
    if proxy.get("outage"):
        raise ValueError(
            "the kernel's proxy has no outages: remove [[proxy.outage]], or simulate with umts run"
        )
    if proxy.get("ports"):
        raise ValueError(
            "proxy.ports: the kernel's proxy splits all TCP of programs: remove the key, or simulate "
            "with umts run"
        )
    options = [("--transparent", ""), ("--from", DEVICES), ("--workers", "1"), ("--drain", "0 s")]
    servers, users = (proxy.get(side, {}) for side in ("server_side", "radio_side"))
    if proxy["memory"] != "unlimited":
        if proxy["at_limit"] == "pass":
            raise ValueError(
                "proxy.memory: the kernel's proxy cannot pass connections on at its limit: write "
                'at_limit = "refuse"'
            )
        options.append(("--memory", proxy["memory"]))
    if proxy["buffer"] != "unlimited":
        buffer = _octets(proxy["buffer"])
        if buffer < _MIN_BUFFER:
            raise ValueError(
                f"proxy.buffer = {proxy['buffer']}: the kernel's buffers need at least {_MIN_BUFFER} B"
            )
        options.append(("--buffer", f"{buffer} B"))
        for option, side in (("--client-set", users), ("--server-set", servers)):
            # The send buffer also holds data in flight, so it has the full size of the buffer.
            options.append((option, f"send_buffer={buffer} B"))
            options.append((option, f"receive_buffer={_receive_buffer(side)} B"))
    return Node(
        tuple(options), (_tcp_settings(tcp, servers, "server_side"), _tcp_settings(tcp, users, "radio_side"))
    )


def _receive_buffer(side: Mapping[str, Any]) -> int:
    """Receive buffer in bytes: twice the window, because the kernel offers half of the buffer as window."""
    return 2 * _octets(side["advertised_window"]) if "advertised_window" in side else _RECEIVE_BUFFER


def _tcp_settings(tcp: Pairs, side: Mapping[str, Any], name: str) -> Pairs:
    """Return the kernel settings of a proxy's side: its own keys take precedence over `tcp`."""
    pairs = dict(tcp)
    if "variant" in side:
        control = _KERNEL_NAMES.get(side["variant"], side["variant"])
        if control not in ("reno", "cubic", "bbr", "vegas", "westwood"):
            raise ValueError(f"proxy.{name}.variant = {control}: the kernel has no such congestion control")
        pairs["route.congctl"] = control
    if "initial_window" in side:
        window = quantity(side["initial_window"])
        octets = _octets(side["initial_window"])
        if window is not None and window.unit.startswith("segment"):
            segments = int(window.number)
        else:
            segments = octets // _SEGMENT or 1  # at least one
        pairs["route.initcwnd"] = str(segments)
    if "rto_min" in side and (rto_min := quantity(side["rto_min"])) is not None:
        pairs["route.rto_min"] = str(round(1000 * rto_min.base))
    return tuple(pairs.items())


def _octets(text: str) -> int:
    """Convert a size in bytes or in segments to bytes."""
    size = quantity(text)
    if size is None:
        raise ValueError(f'{text!r} is not a size: write for example "50 kB" or "10 segments"')
    return int(size.number * _SEGMENT if size.unit.startswith("segment") else size.base)


def main(arguments: list[str]) -> None:
    """Run the proxy with options from a JSON list of pairs. Prints a line when connections are accepted."""
    options = [(name, value) for name, value in json.loads(arguments[0])]
    _core.proxy(options, lambda _: print("proxying", flush=True))


if __name__ == "__main__":
    main(sys.argv[1:])
