"""Stalls of a run and their chains of causes, for the run's view in ``umts serve`` and in ``umts report``.

A stall is a time in which a TCP sender has data in flight and no new acknowledgment arrives. The
chain of a stall, timeout or retransmission has one link per event, from the effect back to the first
cause: no acknowledgment, a late segment, an RLC repair, a lost block. `umtslab.why` builds the
chains; this module adds headings, positions on the time line and commands. Times, texts, clauses and
identities (numbers of packets, PDUs, …) equal the output of ``umts why --json``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from umtslab.labels import cause_label
from umtslab.numbers import number
from umtslab.run import Run
from umtslab.why import Chain, MissingTimeline, Stall, explain
from umtslab.why.links import count, seconds
from umtslab.why.timeline import Timeline

MAX_STALLS = 200
"""Maximum number of listed stalls: the longest ones."""

MAX_EVENTS = 2000
"""Maximum number of listed timeouts and retransmissions: the first ones."""

KINDS = {"rto": "Retransmission timeout", "retransmission": "Retransmission", "stall": "Stall"}
"""Headings of chains by kind."""

_IDENTITIES = {
    "packet": "packet",
    "repeats": "copy of packet",
    "ack": "ACK",
    "count": "duplicate ACK",
    "pdu": "PDU",
    "sn": "SN",
    "block_set": "block set",
    "link": "link",
}
"""Words for the identities of a link that are single numbers."""

_OWNERS = {"connection": "connection", "ue": "UE"}
"""Words for the identities of every link. They are written only if a link has no other identity."""


def stalls_of(run: Run) -> dict[str, Any] | None:
    """Return the stalls, the longest first, and the timeouts and retransmissions in order of time.

    Every stall, timeout and retransmission has its chain. None for a run without a timeline.
    """
    try:
        explanation = explain(run)
    except MissingTimeline:
        return None
    timeline = Timeline(run)
    positions = _positions(timeline)
    stalls = list(zip(explanation.stalls, explanation.stall_chains, strict=True))[:MAX_STALLS]
    longest_s = max((stall.length_s for stall in explanation.stalls), default=0.0)
    chains = explanation.chains
    return {
        "limit_s": explanation.limit_s,
        "limit": f"{explanation.limit_s:g} s",
        "stall_count": len(explanation.stalls),
        "stalls": [
            {
                **_stall(timeline, stall, chain, longest_s),
                "of_ue": positions[stall.connection],
                "id": f"stall-{index}",
                "chain": _chain(run, chain, f"stall-{index}"),
            }
            for index, (stall, chain) in enumerate(stalls)
        ],
        "timeouts": sum(chain.kind == "rto" for chain in chains),
        "event_count": len(chains),
        "events": [_chain(run, chain, f"event-{i}") for i, chain in enumerate(chains[:MAX_EVENTS])],
    }


def _positions(timeline: Timeline) -> dict[int, str]:
    """Return each connection's place among the connections of its UE, as in "2nd of 2"."""
    by_ue: dict[int, list[int]] = defaultdict(list)
    for connection in sorted(timeline.connections):
        by_ue[timeline.connections[connection]["ue"]].append(connection)
    return {
        connection: f"{_ordinal(index)} of {len(connections)}"
        for connections in by_ue.values()
        for index, connection in enumerate(connections, 1)
    }


def _ordinal(index: int) -> str:
    """Return an ordinal number.

    >>> [_ordinal(index) for index in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if index % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(index % 10, "th")
    return f"{index}{ending}"


def _stall(timeline: Timeline, stall: Stall, chain: Chain, longest_s: float) -> dict[str, Any]:
    """Return the row of a stall. Its bar, `scale_pct` long, is relative to the longest stall of the run."""
    return {
        **stall.as_dict(),
        "start": f"{stall.start_s:.3f} s",
        "length": f"{stall.length_s:.3f} s",
        "label": chain.label,
        "cause": cause_label(chain.label),
        "parts": _parts(timeline, stall),
        "scale_pct": 100 * stall.length_s / longest_s,
    }


def _parts(timeline: Timeline, stall: Stall) -> list[dict[str, Any]]:
    """Return the time of a stall by cause, the longest first."""
    times: dict[str, float] = defaultdict(float)
    for row in timeline.waits(stall.connection, stall.start_s, stall.end_s):
        times[row["cause"]] += row["end_s"] - row["start_s"]
    total = sum(times.values())
    return [
        {
            "cause": cause,
            "label": cause_label(cause),
            "seconds": time_s,
            "text": number(time_s),
            "share_pct": 100 * time_s / total,
            "share_text": number(100 * time_s / total, 3),
        }
        for cause, time_s in sorted(times.items(), key=lambda pair: -pair[1])
    ]


def _chain(run: Run, chain: Chain, name: str) -> dict[str, Any]:
    """Return a chain with the texts of the page. `name` is its anchor; `spoken` is for screen readers."""
    links = chain.as_dict()["links"]
    title = f"{KINDS[chain.kind]} at {seconds(chain.time_s)}"
    return {
        **{key: value for key, value in chain.as_dict().items() if key != "links"},
        "id": name,
        "title": title,
        "label_text": cause_label(chain.label),
        "packet": next(
            (link["identity"]["packet"] for link in reversed(links) if "packet" in link["identity"]), None
        ),
        "spoken": (
            f"{title}, UE {chain.ue}, connection {chain.connection}, {cause_label(chain.label)}. "
            f"{links[0]['text']} {count(len(links), 'link')}."
        ),
        "links": [
            {
                **link,
                "instant": seconds(link["time_s"]),
                "identity_text": identity_text(link["identity"]),
                "is_first_cause": index == len(links) - 1,
                **_view(link["time_s"], link["end_s"]),
            }
            for index, link in enumerate(links)
        ],
        **_view(min(link["time_s"] for link in links), max(link["end_s"] for link in links)),
        "command": f'umts why {run.key[:12]} --connection {chain.connection} --at "{seconds(chain.time_s)}"',
    }


_MARGIN = 0.2
"""Time that a view shows before and after a link or chain, as a share of its length."""

_MIN_VIEW_S = 0.1
"""Minimum length of a view."""


def _view(start_s: float, end_s: float) -> dict[str, float]:
    """Return start and end of the part of the time line that shows a link or chain, with a margin."""
    margin = max(_MARGIN * (end_s - start_s), _MIN_VIEW_S / 2)
    return {"from_s": max(0.0, start_s - margin), "to_s": end_s + margin}


def identity_text(identity: Mapping[str, Any]) -> str:
    """Return the identities of a link as text: the UE or connection only if there is no other identity.

    >>> identity_text({"packet": 7, "seq": 1, "end": 1001, "pdu": 54, "sn": 54})
    'bytes 1 to 1000, packet 7, PDU 54, SN 54'
    """
    words = []
    if isinstance(identity.get("seq"), int) and identity.get("end", 0) > identity["seq"] + 1:
        words.append(f"bytes {identity['seq']} to {identity['end'] - 1}")
    words += [
        f"{word} {identity[name]}" for name, word in _IDENTITIES.items() if identity.get(name) is not None
    ]
    if identity.get("first_pdu") is not None:
        words.append(f"PDUs {identity['first_pdu']} to {identity['last_pdu']}")
    if not words:
        owners = [f"{_OWNERS[name]} {identity[name]}" for name in _OWNERS if identity.get(name) is not None]
        words = owners[:1]
    return ", ".join(words)


def limited(content: Mapping[str, Any], max_chains: int) -> dict[str, Any]:
    """Return the result of `stalls_of` with at most `max_chains` stalls, and as many other events."""
    stalls: Sequence[dict[str, Any]] = content["stalls"]
    return {**content, "stalls": stalls[:max_chains], "events": content["events"][:max_chains]}
