"""Chains of all stalls, timeouts and retransmissions of a run."""

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
    least_s = limit_s(run)
    numbers = sorted(timeline.segments) if connection is None else [connection]
    shown_stalls = tuple(stall for stall in stalls(timeline, least_s) if stall.connection in numbers)
    chains: list[Chain] = []
    for number in numbers:
        if number in timeline.segments:
            chains += _chains_of(timeline, number)
    chains.sort(key=lambda chain: (chain.time_s, chain.connection))
    stall_chains = tuple(_stall_chain(timeline, stall) for stall in shown_stalls)
    return Explanation(run, least_s, shown_stalls, tuple(chains), stall_chains)


def _chains_of(timeline: Timeline, connection: int) -> list[Chain]:
    """Return the chains of the timeouts and retransmissions of a connection."""
    timeouts = [_timeout_chain(timeline, connection, row) for row in timeline.timeouts.get(connection, ())]
    retransmitted = (row for row in timeline.segments[connection].rows if row["cause"] in _REPEATS)
    return [*timeouts, *(_retransmission_chain(timeline, segment, timeouts) for segment in retransmitted)]


def _ue(timeline: Timeline, connection: int) -> int:
    return int(timeline.segments[connection].rows[0]["ue"])


def _timeout_chain(timeline: Timeline, connection: int, row: Row) -> Chain:
    """Return the chain of a retransmission timeout."""
    at, silent_s = row["time_s"], row["time_s"] - row["idle_s"]
    direction = "downlink" if row["end"] == "server" else "uplink"
    segments = timeline.segments[connection]
    una, acknowledged_s = segments.acknowledged(direction, at)
    # The copies sent before the timeout. The retransmission leaves at the instant of the timeout.
    copies = segments.copies(direction, una, at - _SAME_INSTANT_S)
    needed = "was needed" if row["kind"] == "needed" else "was not needed"
    where = "server" if row["end"] == "server" else "UE"
    numbers = {"connection": connection, "end": row["end"]}
    text = f"The retransmission timer of the {where} expires. The timeout {needed}."
    links = [Link("rto", at, at, text, clause="RFC 6298 §5.4", identity=numbers)]
    ue = _ue(timeline, connection)
    if not copies:
        links.append(unknown_link(silent_s, at))
        return Chain("rto", at, connection, ue, row["because"], tuple(links))
    in_flight = segments.in_flight(direction, at)
    start = copies[0]["time_s"] if acknowledged_s is None else acknowledged_s
    text = (
        f"No new acknowledgment arrives from {seconds(start)} on. "
        f"{count(in_flight, 'segment')} in flight, the first of them is the {causes.describe(copies[0])}."
    )
    links.append(Link("no_ack", start, at, text, clause="RFC 6298 §5.3", identity=causes.identity(copies[0])))
    label = row["because"]
    if row["kind"] == "needed":
        lost = [copy for copy in copies if copy["lost"]]
        if lost and lost[-1]["end_s"] > at:
            copy = lost[-1]
            text = (
                f"The copy of {seconds(copy['time_s'])} is still under way at the timeout, and is lost at "
                f"{seconds(copy['end_s'])}."
            )
            links.append(
                Link("lost_later", copy["time_s"], copy["end_s"], text, identity=causes.identity(copy))
            )
        links += causes.loss_links(timeline, lost[-1]) if lost else [unknown_link(start, at)]
        return Chain("rto", at, connection, ue, label, tuple(links))
    links += _late_links(timeline, connection, direction, una, silent_s, at, label)
    also = causes.beside(timeline, connection, silent_s, at, label)
    return Chain("rto", at, connection, ue, label, tuple(links), also)


def _late_links(
    timeline: Timeline, connection: int, direction: str, byte: int, start: float, at: float, label: str
) -> list[Link]:
    """Explain why the acknowledgment of a byte had not arrived at the instant `at`.

    `start` is the beginning of the wait, and `label` the label of the timeout or stall.
    """
    segments = timeline.segments[connection]
    copies = segments.copies(direction, byte, at - _SAME_INSTANT_S)
    arrived = [copy for copy in copies if copy["end_s"] is not None and not copy["lost"]]
    if not arrived:
        under_way = [copy for copy in copies if copy["end_s"] is None]
        if not under_way:
            return [unknown_link(start, at)]
        first = under_way[0]
        text = f"The {causes.describe(first)} is under way until the run ends."
        links = [Link("late_segment", first["time_s"], at, text, identity=causes.identity(first))]
        return links + _explained(timeline, connection, first, start, at, label)
    first = min(arrived, key=lambda copy: copy["end_s"])
    if first["end_s"] > at:
        late = first["end_s"] - at
        until = seconds(first["end_s"])
        text = (
            f"The {causes.describe(first)} is late: the timer expires {duration(late)} before the "
            f"arrival at {until}."
        )
        links = [Link("late_segment", first["time_s"], first["end_s"], text, identity=causes.identity(first))]
        return links + _explained(timeline, connection, first, start, at, label)
    answers = [
        row
        for row in segments.between(first["end_s"], at)
        if row["direction"] != direction and row["ack"] > byte
    ]
    lost = [row for row in answers if row["lost"] and row["end_s"] <= at]
    if label == "ack_loss" or (answers and len(lost) == len(answers)):
        text = (
            f"The {causes.describe(first)} arrived at {seconds(first['end_s'])}. The acknowledgment is lost."
        )
        numbers = causes.identity(first)
        links = [Link("ack_loss", first["end_s"], at, text, clause="RFC 9293 §3.10.7.4", identity=numbers)]
        if lost:
            # The cause of the wait is the lost acknowledgment, independent of the place of the loss.
            return links + [
                replace(link, cause="ack_loss") if link.cause else link
                for link in causes.loss_links(timeline, lost[-1])
            ]
        return [*links, unknown_link(first["end_s"], at)]
    on_way = [row for row in answers if not row["lost"] and row["end_s"] is not None]
    if on_way:
        answer = min(on_way, key=lambda row: row["end_s"])
        text = (
            f"The {causes.describe(first)} arrived at {seconds(first['end_s'])}. "
            f"The acknowledgment is under way until {seconds(answer['end_s'])}."
        )
        links = [Link("late_ack", answer["time_s"], answer["end_s"], text, identity=causes.identity(answer))]
        # Most of the time may have been spent on the segment, before its acknowledgment was sent.
        return links + _explained(timeline, connection, answer, start, at, label, before=first)
    text = f"The {causes.describe(first)} arrived at {seconds(first['end_s'])}."
    links = [Link("arrived", first["time_s"], first["end_s"], text, identity=causes.identity(first))]
    return links + _explained(timeline, connection, first, start, at, label)


def _explained(
    timeline: Timeline,
    connection: int,
    packet: Row,
    start: float,
    until: float,
    label: str,
    before: Row | None = None,
) -> list[Link]:
    """Explain a wait for `packet`, or for `before` if most of the time was spent on that packet."""
    if before is not None:

        def labelled_s(end_s: float) -> float:
            """Return the time from `start` to `end_s` that the label covers."""
            lengths: list[float] = [
                row["end_s"] - row["start_s"]
                for row in timeline.waits(connection, start, end_s)
                if label in (row["cause"], label_of_wait(row["cause"], row["loss"] or ""))
            ]
            return sum(lengths)

        time_of_before_s = labelled_s(min(until, before["end_s"]))
        packet = before if time_of_before_s > 0.5 * labelled_s(until) else packet
    return causes.wait_links(timeline, connection, packet, start, until, label)


def _retransmission_chain(timeline: Timeline, segment: Row, timeouts: list[Chain]) -> Chain:
    """Return the chain of a retransmitted segment."""
    connection, at, direction = segment["connection"], segment["time_s"], segment["direction"]
    segments = timeline.segments[connection]
    text = f"The {causes.describe(segment)} is sent again {_REPEATS[segment['cause']]}."
    numbers = {**causes.identity(segment), "repeats": segment["repeats"]}
    first = Link("retransmission", at, at, text, clause=_CLAUSES[segment["cause"]], identity=numbers)
    original = segments.by_packet.get(segment["repeats"]) if segment["repeats"] is not None else None
    if segment["cause"] == "rto":
        end = "server" if direction == "downlink" else "ue"
        earlier = [
            chain
            for chain in timeouts
            if chain.time_s <= at + _SAME_INSTANT_S and chain.links[0].identity["end"] == end
        ]
        if earlier:
            timeout = earlier[-1]
            chain = (first, *timeout.links)
            return Chain("retransmission", at, connection, segment["ue"], timeout.label, chain, timeout.also)
        return _unknown([first], segment)
    links = [first]
    una, _ = segments.acknowledged(direction, at)
    duplicates = [
        event
        for event in timeline.connection_events.get(connection, ())
        if event["kind"] == "duplicate_ack" and event["direction"] == direction and event["time_s"] <= at
    ]
    if segment["cause"] == "dup_ack" and duplicates:
        event = duplicates[-1]
        text = f"Duplicate ACK number {event['number']} reaches the sender, for byte {una}."
        numbers = {"connection": connection, "ack": una, "count": event["number"]}
        links.append(
            Link(
                "duplicate_ack",
                event["time_s"],
                event["time_s"],
                text,
                clause="RFC 5681 §3.2",
                identity=numbers,
            )
        )
    if original is None:
        return _unknown(links, segment)
    if original["lost"]:
        links += causes.loss_links(timeline, original)
        return Chain("retransmission", at, connection, segment["ue"], original["loss"], tuple(links))
    if original["end_s"] is not None:
        text = f"The earlier copy is not lost: arrival at {seconds(original['end_s'])}."
        links.append(
            Link("not_lost", original["time_s"], original["end_s"], text, identity=causes.identity(original))
        )
        label = _longest(timeline, connection, original["time_s"], at)
        links += causes.wait_links(timeline, connection, original, original["time_s"], at, label)
        return Chain("retransmission", at, connection, segment["ue"], label, tuple(links))
    return _unknown(links, segment)


def _unknown(links: list[Link], segment: Row) -> Chain:
    """Return a chain of a retransmission whose first cause is unknown."""
    at = segment["time_s"]
    chain = (*links, unknown_link(at, at))
    return Chain("retransmission", at, segment["connection"], segment["ue"], UNKNOWN, chain)


_ORDINARY = (
    "advertised_window",
    "congestion_avoidance",
    "propagation",
    "serialisation",
    "setup",
    "slow_start",
)
"""Causes that every connection has. Another cause with `_LEAST_SHARE` of a time takes precedence."""

_LEAST_SHARE = 0.25


def _longest(timeline: Timeline, connection: int, start_s: float, end_s: float) -> str:
    """Return the cause with most of this time. The cause of a needed timeout is the loss."""
    times: dict[str, float] = defaultdict(float)
    for row in timeline.waits(connection, start_s, end_s):
        name = row["loss"] if row["cause"] == "rto_needed" and row["loss"] else row["cause"]
        times[name] += row["end_s"] - row["start_s"]
    extraordinary = {
        name: time_s
        for name, time_s in times.items()
        if name not in _ORDINARY and time_s >= _LEAST_SHARE * (end_s - start_s)
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
    also = causes.beside(timeline, connection, start, end, label)
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
        links += _late_links(timeline, connection, stall.direction, una, start, end, label)
    else:
        links.append(unknown_link(start, end))
    return Chain("stall", start, connection, stall.ue, label, tuple(links), (*expired, *also))


def _repair_text(copies: list[Row], lost: Row) -> str:
    """Describe how the loss of a segment was repaired."""
    again = next((copy for copy in copies if copy["time_s"] > lost["time_s"]), None)
    if again is None:
        return "TCP has not sent a copy."
    return f"TCP sends a copy at {seconds(again['time_s'])} {_REPEATS.get(again['cause'], '')}".rstrip() + "."
