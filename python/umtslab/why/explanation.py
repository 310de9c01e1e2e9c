"""Explains each stall, timeout and retransmission of a run by a chain of causes.

A chain begins with the effect at the TCP sender and ends with its first cause. This module builds the
part that TCP sees: which byte was not acknowledged, and whether its segment was lost or late, or its
acknowledgment was lost or late. `causes` explains the loss or the wait below TCP. The *label* of a
chain is the cause that the time budget of the core gives for the same time, such as ``rlc_recovery``.

In the rows of segments, ``time_s`` is the sending and ``end_s`` the arrival or loss. ``una`` is the
lowest unacknowledged byte (SND.UNA of RFC 9293).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from umtslab.labels import cause_label
from umtslab.run import Run
from umtslab.why import causes
from umtslab.why.links import UNKNOWN, Chain, Link, count, duration, label_of_wait, seconds, unknown_link
from umtslab.why.stalls import Stall, limit_s, stalls
from umtslab.why.timeline import Row, Timeline

_REPEATS = {
    "dup_ack": "after duplicate ACKs",
    "rto": "after a timeout",
    "tail_loss": "as a tail loss probe",
    "again": "by the TCP of a program",
}
"""Reasons for a retransmission, after "sent again"."""

_CLAUSES = {"dup_ack": "RFC 5681 §3.2", "rto": "RFC 6298 §5.4", "tail_loss": "RFC 8985 §7.3", "again": ""}

_SAME_INSTANT_S = 1e-9
"""Times that differ by less are the same instant."""


@dataclass(frozen=True)
class Explanation:
    """Stalls of a run, and the chains behind stalls, timeouts and retransmissions."""

    run: Run
    limit_s: float
    stalls: tuple[Stall, ...]
    chains: tuple[Chain, ...]
    """In order of time; `stall_chains` are in the order of `stalls`."""
    stall_chains: tuple[Chain, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation for JSON."""
        return {
            "scenario": self.run.scenario,
            "seed": self.run.seed,
            "run": self.run.run,
            "stall_limit_s": self.limit_s,
            "stalls": [
                {**stall.as_dict(), "chain": chain.as_dict()}
                for stall, chain in zip(self.stalls, self.stall_chains, strict=True)
            ],
            "chains": [chain.as_dict() for chain in self.chains],
        }


def explain(run: Run, connection: int | None = None) -> Explanation:
    """Explain the stalls, timeouts and retransmissions of a run, or of one connection.

    Raises
    ------
    MissingTimeline
        If the run recorded no timeline.
    """
    timeline = Timeline(run)
    min_length_s = limit_s(run)
    connections = sorted(timeline.segments) if connection is None else [connection]
    shown_stalls = tuple(stall for stall in stalls(timeline, min_length_s) if stall.connection in connections)
    chains: list[Chain] = []
    for number in connections:
        if number in timeline.segments:
            chains += _chains_of(timeline, number)
    chains.sort(key=lambda chain: (chain.time_s, chain.connection))
    stall_chains = tuple(_stall_chain(timeline, stall) for stall in shown_stalls)
    return Explanation(run, min_length_s, shown_stalls, tuple(chains), stall_chains)


def _chains_of(timeline: Timeline, connection: int) -> list[Chain]:
    """Return the chains of the timeouts and retransmissions of a connection."""
    timeouts = [_timeout_chain(timeline, connection, row) for row in timeline.timeouts.get(connection, ())]
    retransmitted = (row for row in timeline.segments[connection].rows if row["cause"] in _REPEATS)
    return [*timeouts, *(_retransmission_chain(timeline, segment, timeouts) for segment in retransmitted)]


def _ue(timeline: Timeline, connection: int) -> int:
    return int(timeline.segments[connection].rows[0]["ue"])


def _timeout_chain(timeline: Timeline, connection: int, row: Row) -> Chain:
    """Return the chain of a retransmission timeout, a row of the table of timeouts.

    A timeout was needed if the first unacknowledged segment was lost, or its acknowledgments and the
    next segment in order. Otherwise the segment or its acknowledgment was only late, or only the
    acknowledgment was lost.
    """
    at, label = row["time_s"], row["because"]
    # The sender received no acknowledgment since this instant.
    silent_since_s = at - row["idle_s"]
    direction = "downlink" if row["end"] == "server" else "uplink"
    segments = timeline.segments[connection]
    una, acknowledged_s = segments.acknowledged(direction, at)
    # The copies sent before the timeout. The retransmission leaves at the instant of the timeout.
    copies = segments.copies(direction, una, at - _SAME_INSTANT_S)
    need = "was needed" if row["kind"] == "needed" else "was not needed"
    sender = "server" if row["end"] == "server" else "UE"
    numbers = {"connection": connection, "end": row["end"]}
    text = f"The retransmission timer of the {sender} expires. The timeout {need}."
    links = [Link("rto", at, at, text, clause="RFC 6298 §5.4", identity=numbers)]

    def chain(also: tuple[str, ...] = ()) -> Chain:
        ue = _ue(timeline, connection)
        return Chain(
            "rto", time_s=at, connection=connection, ue=ue, label=label, links=tuple(links), also=also
        )

    if not copies:
        links.append(unknown_link(silent_since_s, at))
        return chain()
    in_flight = segments.in_flight(direction, at)
    no_ack_since_s = copies[0]["time_s"] if acknowledged_s is None else acknowledged_s
    text = (
        f"No new acknowledgment arrives from {seconds(no_ack_since_s)} on. "
        f"{count(in_flight, 'segment')} in flight, the first of them is the {causes.describe(copies[0])}."
    )
    links.append(
        Link(
            "no_ack",
            no_ack_since_s,
            at,
            text,
            clause="RFC 6298 §5.3",
            identity=causes.identity(copies[0]),
        )
    )
    wait = _AckWait(timeline, connection, direction, una, silent_since_s, at, label)
    if row["kind"] == "needed":
        if any(_has_arrived(copy, at) for copy in copies):
            links += _lost_ack_and_data_links(wait)
        else:
            links += _needed_timeout_links(timeline, copies, no_ack_since_s, at)
        return chain()
    links += _late_ack_links(wait)
    return chain(also=causes.waits_beside(timeline, connection, silent_since_s, at, label))


def _needed_timeout_links(timeline: Timeline, copies: list[Row], start_s: float, at: float) -> list[Link]:
    """Explain a timeout at the instant `at` by the loss of the last copy of the segment."""
    lost_copies = [copy for copy in copies if copy["lost"]]
    if not lost_copies:
        return [unknown_link(start_s, at)]
    last = lost_copies[-1]
    links = []
    if last["end_s"] > at:
        text = (
            f"The copy of {seconds(last['time_s'])} is still under way at the timeout, and is lost at "
            f"{seconds(last['end_s'])}."
        )
        links.append(Link("lost_later", last["time_s"], last["end_s"], text, identity=causes.identity(last)))
    return links + causes.loss_links(timeline, last)


def _has_arrived(copy: Row, at: float) -> bool:
    return not copy["lost"] and copy["end_s"] is not None and copy["end_s"] <= at


def _lost_ack_and_data_links(wait: _AckWait) -> list[Link]:
    """Explain a timeout that was needed although the first unacknowledged segment had arrived.

    Its acknowledgments were lost, and so was the next segment in order.
    """
    segments = wait.timeline.segments[wait.connection]
    links = _late_ack_links(wait)
    byte = wait.byte
    while True:
        copies = segments.copies(wait.direction, byte, wait.end_s - _SAME_INSTANT_S)
        arrived = [copy for copy in copies if _has_arrived(copy, wait.end_s)]
        if not arrived:
            break
        byte = max(copy["end"] for copy in arrived)
    lost_copies = [copy for copy in copies if copy["lost"]]
    return links + (causes.loss_links(wait.timeline, lost_copies[-1]) if lost_copies else [])


@dataclass(frozen=True)
class _AckWait:
    """A wait of a sender for the acknowledgment of a byte."""

    timeline: Timeline
    connection: int
    direction: str
    """Direction of the byte; its acknowledgment comes from the other direction."""
    byte: int
    start_s: float
    end_s: float
    """The instant of the timeout, or the end of the stall."""
    label: str
    """Label of the timeout or stall."""


def _late_ack_links(wait: _AckWait) -> list[Link]:
    """Explain why the acknowledgment of the byte had not arrived at the end of the wait.

    Cases: no copy of the segment arrived; the first copy arrived only after the wait; it arrived, but
    its acknowledgments were lost; or the acknowledgment was under way.
    """
    segments = wait.timeline.segments[wait.connection]
    copies = segments.copies(wait.direction, wait.byte, wait.end_s - _SAME_INSTANT_S)
    arrived = [copy for copy in copies if copy["end_s"] is not None and not copy["lost"]]
    if not arrived:
        return _no_arrival_links(wait, copies)
    first = min(arrived, key=lambda copy: copy["end_s"])
    if first["end_s"] > wait.end_s:
        return _late_segment_links(wait, first)
    acks = [
        row
        for row in segments.between(first["end_s"], wait.end_s)
        if row["direction"] != wait.direction and row["ack"] > wait.byte
    ]
    lost_acks = [ack for ack in acks if ack["lost"] and ack["end_s"] <= wait.end_s]
    if wait.label == "ack_loss" or (acks and len(lost_acks) == len(acks)):
        return _lost_ack_links(wait, first, lost_acks)
    acks_under_way = [ack for ack in acks if not ack["lost"] and ack["end_s"] is not None]
    if acks_under_way:
        return _ack_under_way_links(wait, first, min(acks_under_way, key=lambda ack: ack["end_s"]))
    text = f"The {causes.describe(first)} arrived at {seconds(first['end_s'])}."
    link = Link("arrived", first["time_s"], first["end_s"], text, identity=causes.identity(first))
    return [link, *_wait_links(wait, first)]


def _no_arrival_links(wait: _AckWait, copies: list[Row]) -> list[Link]:
    """Explain a wait in which no copy of the segment arrived, now or later."""
    under_way = [copy for copy in copies if copy["end_s"] is None]
    if not under_way:
        return [unknown_link(wait.start_s, wait.end_s)]
    first = under_way[0]
    text = f"The {causes.describe(first)} is under way until the run ends."
    link = Link("late_segment", first["time_s"], wait.end_s, text, identity=causes.identity(first))
    return [link, *_wait_links(wait, first)]


def _late_segment_links(wait: _AckWait, segment: Row) -> list[Link]:
    """Explain a wait that ended before the segment arrived."""
    late_s = segment["end_s"] - wait.end_s
    text = (
        f"The {causes.describe(segment)} is late: the timer expires {duration(late_s)} before the "
        f"arrival at {seconds(segment['end_s'])}."
    )
    link = Link("late_segment", segment["time_s"], segment["end_s"], text, identity=causes.identity(segment))
    return [link, *_wait_links(wait, segment)]


def _lost_ack_links(wait: _AckWait, segment: Row, lost_acks: list[Row]) -> list[Link]:
    """Explain a wait in which the segment arrived and its acknowledgments were lost."""
    text = (
        f"The {causes.describe(segment)} arrived at {seconds(segment['end_s'])}. The acknowledgment is lost."
    )
    link = Link(
        "ack_loss",
        segment["end_s"],
        wait.end_s,
        text,
        clause="RFC 9293 §3.10.7.4",
        identity=causes.identity(segment),
    )
    if not lost_acks:
        return [link, unknown_link(segment["end_s"], wait.end_s)]
    # The cause of the wait is the lost acknowledgment, independent of the place of the loss.
    return [link] + [
        replace(loss_link, cause="ack_loss") if loss_link.cause else loss_link
        for loss_link in causes.loss_links(wait.timeline, lost_acks[-1])
    ]


def _ack_under_way_links(wait: _AckWait, segment: Row, ack: Row) -> list[Link]:
    """Explain a wait in which the segment arrived, and that ended before its acknowledgment arrived."""
    text = (
        f"The {causes.describe(segment)} arrived at {seconds(segment['end_s'])}. "
        f"The acknowledgment is under way until {seconds(ack['end_s'])}."
    )
    link = Link("late_ack", ack["time_s"], ack["end_s"], text, identity=causes.identity(ack))
    # Most of the time may have been spent on the segment, before its acknowledgment was sent.
    segment_s = _labelled_time_s(wait, min(wait.end_s, segment["end_s"]))
    is_segment_slower = segment_s > 0.5 * _labelled_time_s(wait, wait.end_s)
    return [link, *_wait_links(wait, segment if is_segment_slower else ack)]


def _labelled_time_s(wait: _AckWait, until_s: float) -> float:
    """Return the time from the start of the wait to `until_s` that the label of the wait covers."""
    lengths_s: list[float] = [
        row["end_s"] - row["start_s"]
        for row in wait.timeline.waits(wait.connection, wait.start_s, until_s)
        if wait.label in (row["cause"], label_of_wait(row["cause"], row["loss"] or ""))
    ]
    return sum(lengths_s)


def _wait_links(wait: _AckWait, packet: Row) -> list[Link]:
    """Explain a wait by the wait for one packet: the segment or its acknowledgment."""
    return causes.wait_links(wait.timeline, wait.connection, packet, wait.start_s, wait.end_s, wait.label)


def _retransmission_chain(timeline: Timeline, segment: Row, timeouts: list[Chain]) -> Chain:
    """Return the chain of a retransmitted segment. `timeouts` are the chains of all timeouts."""
    at, direction, reason = segment["time_s"], segment["direction"], segment["cause"]
    text = f"The {causes.describe(segment)} is sent again {_REPEATS[reason]}."
    numbers = {**causes.identity(segment), "repeats": segment["repeats"]}
    first_link = Link("retransmission", at, at, text, clause=_CLAUSES[reason], identity=numbers)
    if reason == "rto":
        sender = "server" if direction == "downlink" else "ue"
        earlier_timeouts = [
            chain
            for chain in timeouts
            if chain.time_s <= at + _SAME_INSTANT_S and chain.links[0].identity["end"] == sender
        ]
        if not earlier_timeouts:
            return _unknown([first_link], segment)
        timeout = earlier_timeouts[-1]
        return _chain_of(segment, [first_link, *timeout.links], timeout.label, timeout.also)
    links = [first_link]
    if reason == "dup_ack":
        links += _duplicate_ack_links(timeline, segment)
    segments = timeline.segments[segment["connection"]]
    original = segments.by_packet.get(segment["repeats"]) if segment["repeats"] is not None else None
    if original is None:
        return _unknown(links, segment)
    if original["lost"]:
        links += causes.loss_links(timeline, original)
        return _chain_of(segment, links, original["loss"])
    if original["end_s"] is None:
        return _unknown(links, segment)
    text = f"The earlier copy is not lost: arrival at {seconds(original['end_s'])}."
    links.append(
        Link("not_lost", original["time_s"], original["end_s"], text, identity=causes.identity(original))
    )
    label = _longest(timeline, segment["connection"], original["time_s"], at)
    links += causes.wait_links(timeline, segment["connection"], original, original["time_s"], at, label)
    return _chain_of(segment, links, label)


def _duplicate_ack_links(timeline: Timeline, segment: Row) -> list[Link]:
    """Return the link of the last duplicate ACK that reached the sender before a retransmission, if any."""
    connection, direction = segment["connection"], segment["direction"]
    duplicates = [
        event
        for event in timeline.connection_events.get(connection, ())
        if event["kind"] == "duplicate_ack"
        and event["direction"] == direction
        and event["time_s"] <= segment["time_s"]
    ]
    if not duplicates:
        return []
    last = duplicates[-1]
    una, _ = timeline.segments[connection].acknowledged(direction, segment["time_s"])
    text = f"Duplicate ACK number {last['number']} reaches the sender, for byte {una}."
    numbers = {"connection": connection, "ack": una, "count": last["number"]}
    return [
        Link(
            "duplicate_ack",
            last["time_s"],
            last["time_s"],
            text,
            clause="RFC 5681 §3.2",
            identity=numbers,
        )
    ]


def _chain_of(segment: Row, links: list[Link], label: str, also: tuple[str, ...] = ()) -> Chain:
    """Return a chain of a retransmission."""
    return Chain(
        "retransmission",
        time_s=segment["time_s"],
        connection=segment["connection"],
        ue=segment["ue"],
        label=label,
        links=tuple(links),
        also=also,
    )


def _unknown(links: list[Link], segment: Row) -> Chain:
    """Return a chain of a retransmission, with an unknown first cause."""
    at = segment["time_s"]
    return _chain_of(segment, [*links, unknown_link(at, at)], UNKNOWN)


_ORDINARY = (
    "advertised_window",
    "congestion_avoidance",
    "propagation",
    "serialisation",
    "setup",
    "slow_start",
)
"""Causes that every connection has. Another cause with `_MIN_SHARE` of a time takes precedence."""

_MIN_SHARE = 0.25


def _longest(timeline: Timeline, connection: int, start_s: float, end_s: float) -> str:
    """Return the cause with most of this time. The cause of a needed timeout is the loss."""
    times: dict[str, float] = defaultdict(float)
    for row in timeline.waits(connection, start_s, end_s):
        name = row["loss"] if row["cause"] == "rto_needed" and row["loss"] else row["cause"]
        times[name] += row["end_s"] - row["start_s"]
    extraordinary = {
        name: time_s
        for name, time_s in times.items()
        if name not in _ORDINARY and time_s >= _MIN_SHARE * (end_s - start_s)
    }
    return max(extraordinary or times, key=lambda name: times[name]) if times else UNKNOWN


_LOSSES = (
    "nodeb_drop",
    "radio_loss",
    "rlc_discard",
    "rlc_reset",
    "buffer_full",
    "core_drop",
    "core_outage",
    "core_loss",
)


def _stall_chain(timeline: Timeline, stall: Stall) -> Chain:
    """Return the chain of a stall."""
    connection, start, end = stall.connection, stall.start_s, stall.end_s
    segments = timeline.segments[connection]
    una, _ = segments.acknowledged(stall.direction, start)
    copies = segments.copies(stall.direction, una, end)
    in_flight = segments.in_flight(stall.direction, end - _SAME_INSTANT_S)
    text = (
        f"No new acknowledgment for {duration(stall.length_s)}, until {seconds(end)}. "
        f"{count(in_flight, 'segment')} in flight."
    )
    numbers = {"connection": connection, "ue": stall.ue, "ack": una}
    links = [Link("stall", start, end, text, clause="measure.stall", identity=numbers)]
    label = _longest(timeline, connection, start, end)
    also = causes.waits_beside(timeline, connection, start, end, label)
    expired = [
        f"timeout at {seconds(row['time_s'])} ({row['kind']}, {cause_label(row['because'])})"
        for row in timeline.timeouts.get(connection, ())
        if start <= row["time_s"] <= end
    ]
    lost = [copy for copy in copies if copy["lost"] and copy["loss"] == label]
    if label in _LOSSES and lost:
        original = lost[-1]
        text = f"The {causes.describe(original)} is lost. {_repair_text(copies, original)}"
        links.append(
            Link(
                "segment_lost",
                original["time_s"],
                original["end_s"],
                text,
                identity=causes.identity(original),
            )
        )
        links += causes.loss_links(timeline, original)
    elif copies:
        links += _late_ack_links(_AckWait(timeline, connection, stall.direction, una, start, end, label))
    else:
        links.append(unknown_link(start, end))
    return Chain(
        "stall",
        time_s=start,
        connection=connection,
        ue=stall.ue,
        label=label,
        links=tuple(links),
        also=(*expired, *also),
    )


def _repair_text(copies: list[Row], lost: Row) -> str:
    """Describe how the loss of a segment was repaired."""
    again = next((copy for copy in copies if copy["time_s"] > lost["time_s"]), None)
    if again is None:
        return "TCP has not sent a copy."
    return f"TCP sends a copy at {seconds(again['time_s'])} {_REPEATS.get(again['cause'], '')}".rstrip() + "."
