"""The proxy of an emulation: what it is told, and the process that it is.

It runs in a namespace of its own between the links, where the kernel's TCP ends the programs' connections:
``umts proxy --transparent`` (``crates/proxy``) on the two devices of ``crates/emulate/src/devices/proxy.rs``.
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
"""A line for each connection that is over, in the folder of an emulation."""

DEVICES = "servers,users"
"""By which it intercepts: towards the servers, and towards the users."""

USUAL_PLACE = "ggsn"
"""Where it is if nobody says."""

_RECEIVE = 131_072
"""Octets of kernel memory for what was received, half of which is window: what Linux begins with."""

_LEAST_BUFFER = 16_000
"""Octets: two segments in each part of it, as the kernel counts."""

_SEGMENT = 1460

_LAWS = {"newreno": "reno", "sack": "reno", "fack": "reno"}
"""What the kernel calls those of the model that it has under another name: its recovery is its own."""

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Node:
    """What a proxy is told."""

    options: Pairs
    """As ``umts proxy`` has them, without its log."""
    sides: tuple[Pairs, Pairs]
    """TCP towards the servers, and towards the users: kernel variables and metrics of routes."""


def changes_for(proxy: Mapping[str, Any] | None, at: str) -> tuple[tuple[str, str], ...]:
    """The overrides that put a proxy `at` a node, or where a file has one if that is empty."""
    place = at or (proxy or {}).get("at", USUAL_PLACE)
    return (("proxy.at", place), ("proxy.mode", "split"))


def splits_programs(proxy: Mapping[str, Any] | None) -> bool:
    """Whether a file's proxy is for programs, too: it is for all, and splits."""
    return proxy is not None and proxy["mode"] == "split" and not proxy["flows"] and not proxy.get("ports")


def node_of(proxy: Mapping[str, Any], tcp: Pairs) -> Node:
    """Options of the kernel proxy for ``[proxy]`` of a scenario; `tcp` holds for both sides by default.

    Raises
    ------
    ValueError
        If something is asked for that the kernel does not have.
    """
    if proxy.get("outage"):
        raise ValueError("the kernel's proxy has no outages: remove [[proxy.outage]], or umts run it")
    if proxy.get("ports"):
        raise ValueError(
            "proxy.ports: the kernel's proxy takes all TCP of programs: remove it, or umts run it"
        )
    options = [("--transparent", ""), ("--from", DEVICES), ("--workers", "1"), ("--drain", "0 s")]
    servers, users = (proxy.get(side, {}) for side in ("server_side", "radio_side"))
    if proxy["memory"] != "unlimited":
        if proxy["at_limit"] == "pass":
            raise ValueError(
                "proxy.memory: the kernel's proxy lets nobody pass who is led to it: "
                'write at_limit = "refuse"'
            )
        options.append(("--memory", proxy["memory"]))
    if proxy["buffer"] != "unlimited":
        buffer = _octets(proxy["buffer"])
        if buffer < _LEAST_BUFFER:
            raise ValueError(f"proxy.buffer = {proxy['buffer']}: the kernel's buffers take {_LEAST_BUFFER} B")
        options.append(("--buffer", f"{buffer} B"))
        for option, side in (("--client-set", users), ("--server-set", servers)):
            # What is not acknowledged is in the sending buffer, and has room there.
            options.append((option, f"send_buffer={buffer} B"))
            options.append((option, f"receive_buffer={_receive_buffer(side)} B"))
    return Node(tuple(options), (_told(tcp, servers, "server_side"), _told(tcp, users, "radio_side")))


def _receive_buffer(side: Mapping[str, Any]) -> int:
    """Twice the window, which is half of it."""
    return 2 * _octets(side["advertised_window"]) if "advertised_window" in side else _RECEIVE


def _told(tcp: Pairs, side: Mapping[str, Any], name: str) -> Pairs:
    pairs = dict(tcp)
    if "variant" in side:
        law = _LAWS.get(side["variant"], side["variant"])
        if law not in ("reno", "cubic", "bbr", "vegas", "westwood"):
            raise ValueError(f"proxy.{name}.variant = {law}: the kernel has no such congestion control")
        pairs["route.congctl"] = law
    if "initial_window" in side:
        window = quantity(side["initial_window"])
        octets = _octets(side["initial_window"])
        is_counted = window is not None and window.unit.startswith("segment")
        pairs["route.initcwnd"] = str(
            int(window.number) if window and is_counted else octets // _SEGMENT or 1
        )
    if "rto_min" in side and (least := quantity(side["rto_min"])) is not None:
        pairs["route.rto_min"] = str(round(1000 * least.base))
    return tuple(pairs.items())


def _octets(written: str) -> int:
    found = quantity(written)
    if found is None:
        raise ValueError(f"{written!r} is no size")
    return int(found.number * _SEGMENT if found.unit.startswith("segment") else found.base)


def main(arguments: list[str]) -> None:
    """Be the proxy, with options as a JSON list of pairs; one line on standard output says when it begins."""
    options = [(name, value) for name, value in json.loads(arguments[0])]
    _core.proxy(options, lambda _: print("proxying", flush=True))


if __name__ == "__main__":
    main(sys.argv[1:])
