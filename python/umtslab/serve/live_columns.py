"""The state of one run of a live session, as texts and curves of the page."""

from __future__ import annotations

from typing import Any

from umtslab.numbers import NO_NUMBER, number

_EVENTS = 12
"""Notable events that are shown, newest first."""

_COUNTED = {
    "timeout": "Timeouts",
    "loss": "Lost packets",
    "block_error": "Block sets with errors",
    "switch": "Switches",
}
"""Labels of the counters of notable events."""


def column(state: dict[str, Any], *, programs: int = 0, has_flows: bool = True) -> dict[str, Any]:
    """Convert a state of the core to a `models.LiveColumn`, without label, command and metrics.

    The first `programs` users have real programs instead of flows: events of their TCP are not known.
    `has_flows` is whether there are simulated flows.
    """
    ues = state["ues"]
    cells = {cell["cell"]: cell["name"] for cell in state["cells"]}
    has_cells = len(cells) > 1
    return {
        "users": state["users"],
        "ues": [
            _ue(
                ue,
                cells.get(ue["cell"], str(ue["cell"])) if has_cells else "",
                has_tcp=has_flows and ue["ue"] >= programs,
            )
            for ue in ues
        ],
        "has_tcp": has_flows,
        "has_nodeb_queue": any(ue["nodeb_queue"] is not None for ue in ues),
        "has_cwnd": any(ue["cwnd"] is not None or any(_known(ue["history"]["cwnd"])) for ue in ues),
        "point_ends_s": state["point_ends_s"],
        "total": _total(ues, len(state["point_ends_s"])),
        "cells": [_cell(cell, ues) for cell in state["cells"]],
        "links": [_link(link) for link in state["links"]],
        "counts": [
            {"label": label, "count": state["counts"][kind]}
            for kind, label in _COUNTED.items()
            if has_flows or kind != "timeout"
        ],
        "notable": [
            {**event, "time": f"{event['time_s']:.3f} s"} for event in reversed(state["notable"][-_EVENTS:])
        ],
    }


def _known(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _kbps(bps: float) -> float:
    return round(bps / 1000, 1)


def _ue(ue: dict[str, Any], cell: str, *, has_tcp: bool) -> dict[str, Any]:
    downlink, uplink = ue["channels"]
    [blocks, lost], _ = ue["blocks"]
    history = ue["history"]
    return {
        "ue": ue["ue"],
        "name": ue["name"],
        "cell": cell,
        "state": ue["state"],
        "towards": ue["towards"],
        "downlink": downlink,
        "uplink": uplink,
        "request": ue["request"],
        "rate": f"{_kbps(ue['rates_bps'][0]):.1f}",
        "uplink_rate": f"{_kbps(ue['rates_bps'][1]):.1f}",
        "buffer": f"{ue['buffers'][0]:,}",
        "uplink_buffer": f"{ue['buffers'][1]:,}",
        "cwnd": number(ue["cwnd"], 3),
        "bler": number(100 * lost / blocks, 2) if blocks else NO_NUMBER,
        "connections": ue["connections"],
        "timeouts": ue["timeouts"] if has_tcp else None,
        "retransmissions": ue["retransmissions"] if has_tcp else None,
        "nodeb_queue": _nodeb_queue(ue["nodeb_queue"]),
        "history": {
            "rate_kbps": [_kbps(bps) for bps in history["downlink_bps"]],
            "uplink_kbps": [_kbps(bps) for bps in history["uplink_bps"]],
            "buffer": history["buffer"],
            "uplink_buffer": history["uplink_buffer"],
            "cwnd": [None if cwnd is None else round(cwnd, 2) for cwnd in history["cwnd"]],
        },
    }


def _nodeb_queue(queue: dict[str, int] | None) -> dict[str, str] | None:
    """Return the texts of a queue of the Node B; None for a user without an HS-DSCH."""
    return None if queue is None else {name: f"{queue[name]:,}" for name in ("pdus", "octets", "credits")}


def _total(ues: list[dict[str, Any]], points: int) -> dict[str, Any]:
    """Return the sums over the shown users."""

    def summed(name: str) -> list[float]:
        return [sum(ue["history"][name][point] for ue in ues) for point in range(points)]

    return {
        "rate_kbps": [_kbps(bps) for bps in summed("downlink_bps")],
        "uplink_kbps": [_kbps(bps) for bps in summed("uplink_bps")],
        "buffer": summed("buffer"),
        "uplink_buffer": summed("uplink_buffer"),
    }


def _cell(cell: dict[str, Any], ues: list[dict[str, Any]]) -> dict[str, Any]:
    members = [ue for ue in ues if ue["cell"] == cell["cell"]]
    limit = cell["limits_bps"][0]
    return {
        "name": cell["name"],
        "dchs": cell["dchs"],
        "most_dchs": cell["most_dchs"],
        "reserved": _reserved(cell["rates_bps"][0], limit),
        "uplink_reserved": _reserved(cell["rates_bps"][1], cell["limits_bps"][1]),
        "share": None if not limit else min(1.0, cell["rates_bps"][0] / limit),
        "is_full": cell["is_full"],
        "holders": [ue["ue"] for ue in members if ue["state"] == "CELL_DCH"],
        "waiting": [{"ue": ue["ue"], "answer": ue["request"]} for ue in members if ue["request"]],
    }


def _reserved(bps: int, limit: int | None) -> str:
    return f"{number(bps / 1000)} kbit/s" + ("" if limit is None else f" of {number(limit / 1000)} kbit/s")


def _link(link: dict[str, Any]) -> dict[str, Any]:
    def queue(octets: int) -> str:
        if not link["rate_bps"]:
            return NO_NUMBER
        return f"{octets:,} B, {number(8 * octets / link['rate_bps'], 2)} s"

    downlink, uplink = link["queued"]
    return {"name": f"{link['from']} to {link['to']}", "downlink": queue(downlink), "uplink": queue(uplink)}
