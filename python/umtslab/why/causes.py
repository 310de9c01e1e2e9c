"""Builds the links of a chain that explain a wait or a loss of a TCP segment, down to the radio.

`explanation` builds the upper part of each chain (the timeout, the missing acknowledgment, the late
segment). The functions here add the part below TCP: a full buffer, an RRC switch, a repair by RLC, a
STATUS report, a block that was lost on the air. They find it in the tables of the timeline, by the
identities of the rows: packet, UE, number of a PDU. Each function returns links in the order from the
effect to the first cause.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from umtslab.labels import cause_label
from umtslab.why.links import Link, count, duration, joined, label_of_wait, seconds, unknown_link
from umtslab.why.timeline import SEQUENCE_NUMBERS, Row, Timeline

_MIN_SHARE_BESIDE = 0.1
"""A cause outside the chain is listed beside it if it has at least this share of the wait."""

_EPSILON_S = 1e-9
"""Tolerance for rounding when times are compared."""

_ORDINALS = {1: "first", 2: "second", 3: "third"}

# The following texts continue or form the sentences of links. Keys are values in the tables.

_SWITCH_REASONS = {
    "data": "there is data to send",
    "inactivity": "there was no data for rrc.inactivity",
    "preempted": "another UE needs the DCH",
    "larger_rate": "a DCH with a higher rate is free",
    "smaller_rate": "a DCH with a lower rate suffices",
    "cell_update": "of a cell update",
}
"""Reason for an RRC switch, after "because"."""

_DISCARD_REASONS = {
    "max_dat": ("a PDU is still missing after rlc.max_dat transmissions", "TS 25.322 §9.7.3.3"),
    "timer_discard": ("Timer_Discard expired", "TS 25.322 §9.7.3.1"),
    "cell_change": ("the buffer is emptied when the UE leaves the cell", "handover.rlc"),
    "reset": ("RLC returned to the initial state", "TS 25.322 §11.4"),
    "queue_management": ("CoDel dropped the SDU before its transmission", "rlc.codel"),
    "too_long": ("the SDU needs more PDUs than transparent mode can send", "TS 25.322 §11.1"),
}
"""Reason for which RLC discards an SDU, after "because", and the clause or scenario key."""

_CORE_LOSSES = {
    "core_loss": "is lost in the fixed network",
    "core_drop": "is dropped by the full queue of a link of the fixed network",
    "core_outage": "meets a link of the fixed network that is down",
}
"""Losses of a segment outside the radio network, after the name of the segment."""

_OTHER_WAITS = {
    "capacity_request": ("The UE lacks capacity of the TDD cell: a request is under way.", ""),
    "capacity_wait": ("The TDD cell has no room: the request waits.", ""),
    "postponed_codes": ("The request for a TTI of the DSCH is postponed: no code is free.", ""),
    "postponed_power": (
        "The request for a TTI of the DSCH is postponed: the cell lacks power.",
        "",
    ),
    "postponed_credit": (
        "The request for a TTI of the DSCH is postponed: a scheduler in Python left the UE out.",
        "",
    ),
    "rlc_window": ("The transmission window of RLC is full.", "TS 25.322 §11.3.2"),
    "iub_credit": (
        "The data waits at the RNC: the Node B has allocated no credits for the HS-DSCH.",
        "TS 25.435 §5.1.5",
    ),
    "harq": ("HARQ repeats a block of the UE, or waits to repeat it.", "TS 25.321 §11.6"),
    "radio_queue": ("The channel carries data of others, or of packets ahead.", ""),
    "serialisation": ("The radio transmits the data, at the rate of the channel.", ""),
    "needless_repeats": ("The radio transmits copies of data that had arrived.", "RFC 5682 §1"),
    "core_queue": ("The packet is delayed in the fixed network.", ""),
    "propagation": ("The packet crosses the fixed network.", ""),
    "advertised_window": ("The window of the receiver holds data back.", "RFC 9293 §3.8.6"),
    "slow_start": ("The congestion window holds data back.", "RFC 5681 §3.1"),
    "slow_start_spurious": (
        "The congestion window holds data back. The reason is an unneeded timeout.",
        "RFC 5682 §1",
    ),
    "congestion_avoidance": ("The congestion window holds data back.", "RFC 5681 §3.1"),
    "setup": ("The handshake of TCP takes this time.", "RFC 9293 §3.5"),
    "names": ("The program looks up a name.", "RFC 1035 §2.2"),
    "sender_idle": ("The sender has data and open windows, and waits.", "RFC 9293 §3.7.4"),
    "application_idle": ("All written data is acknowledged.", ""),
}
"""Causes of waits that are explained by one sentence, with the clause or scenario key, if any."""


def describe(segment: Row) -> str:
    """Return a name for a segment.

    >>> describe({"kind": "data", "seq": 1, "end": 501, "ack": 1, "direction": "downlink"})
    'segment 1 to 500'
    """
    match segment["kind"]:
        case "syn":
            return "SYN-ACK" if segment["ack"] else "SYN"
        case "fin":
            return "FIN"
        case "reset":
            return "RST"
        case "ack":
            return f"ACK {segment['ack']}"
        case _:
            return f"segment {segment['seq']} to {segment['end'] - 1}"


def identity(segment: Row) -> dict[str, int]:
    """Return the numbers that identify a segment."""
    return {
        name: segment[name]
        for name in ("packet", "connection", "ue", "seq", "end")
        if segment[name] is not None
    }


def loss_links(timeline: Timeline, segment: Row) -> list[Link]:
    """Explain the loss of a segment: in the fixed network, in the buffer of RLC, by RLC, or on the radio."""
    packet, loss, lost_s = segment["packet"], segment["loss"], segment["end_s"]
    name = describe(segment)
    if loss in _CORE_LOSSES:
        row = timeline.losses.get(packet)
        link = None if row is None else row["link"]
        where = "" if link is None else f", at link {link}"
        text = f"The {name} {_CORE_LOSSES[loss]}{where}."
        return [
            Link(
                loss,
                lost_s,
                lost_s,
                text,
                cause=loss,
                clause="link",
                identity={**identity(segment), "link": link},
            )
        ]
    if loss == "buffer_full":
        text = f"The {name} finds the buffer of RLC full."
        return [Link(loss, lost_s, lost_s, text, cause=loss, clause="rlc.buffer", identity=identity(segment))]
    sdu = timeline.sdus.get(packet)
    discard = timeline.discards.get(packet)
    lost_pdu = _most_lost_pdu(timeline, sdu, discard, lost_s)
    if loss == "rlc_reset":
        effect = f"The {name} is lost with the state of RLC."
        links = _reset_links(timeline, segment["ue"], lost_s, effect)
        return links if lost_pdu is None else links + _block_losses(lost_pdu)
    if loss == "rlc_discard":
        links = [_discard_link(segment, sdu, discard)]
        return links if lost_pdu is None else links + _block_losses(lost_pdu)
    # The modes of RLC without retransmissions: unacknowledged and transparent mode. Also scenarios that
    # replace the radio by a link with losses.
    text = f"The {name} cannot be delivered: a block is lost and RLC repairs nothing."
    place = "nodeb_drop" if loss == "nodeb_drop" else "radio_loss"
    links = [
        Link(place, lost_s, lost_s, text, cause=loss, clause="TS 25.322 §11.2", identity=identity(segment))
    ]
    if lost_pdu is None:
        return links
    return [*links, _block_lost(lost_pdu.transmissions[-1], lost_pdu.number)]


def _discard_link(segment: Row, sdu: Row | None, discard: Row | None) -> Link:
    """Return the link of a segment that RLC discarded. `discard` is the record of the discard, if any."""
    reason = "" if discard is None else discard["reason"]
    reason_text, clause = _DISCARD_REASONS.get(reason, ("", "TS 25.322 §9.7.3"))
    because = f" because {reason_text}" if reason_text else ""
    return Link(
        "rlc_discard",
        segment["end_s"],
        segment["end_s"],
        f"RLC discards the {describe(segment)}{because}.",
        cause="rlc_discard",
        clause=clause,
        identity=identity(segment) | _pdu_range(discard or sdu),
    )


def _pdu_range(row: Row | None) -> dict[str, int]:
    """Return the numbers of the first and last PDU of an SDU. Empty if none of its PDUs was sent."""
    if row is None or row["first"] is None:
        return {}
    return {"first_pdu": row["first"], "last_pdu": row["last"]}


@dataclass(frozen=True)
class _LostPdu:
    """A PDU and its lost transmissions, in order of time."""

    number: int
    transmissions: Sequence[Row]


def _most_lost_pdu(
    timeline: Timeline, sdu: Row | None, discard: Row | None, until_s: float
) -> _LostPdu | None:
    """Return the PDU of an SDU that was lost most often, None if none was lost.

    Only PDUs that were sent after the SDU entered the buffer count. Of several such PDUs, the one
    with the lowest number is returned.
    """
    if sdu is None:
        return None
    source = sdu if sdu["first"] is not None else discard
    first = None if source is None else source["first"]
    last = None if source is None else source["last"]
    by_number: dict[int, list[Row]] = defaultdict(list)
    rows = timeline.pdus.get((sdu["ue"], sdu["direction"]), [])
    for row in rows[bisect_left(rows, sdu["time_s"], key=_sent) :]:
        if row["first"] is None:
            continue
        if row["time_s"] > until_s:
            break
        if row["lost"] and row["end_s"] is not None and row["end_s"] <= until_s + _EPSILON_S:
            low = row["first"] if first is None else max(first, row["first"])
            high = row["last"] if last is None else min(last, row["last"])
            for number in range(low, high + 1):
                by_number[number].append(row)
    if not by_number:
        return None
    number = max(by_number, key=lambda number: (len(by_number[number]), -number))
    return _LostPdu(number, by_number[number])


def _block_losses(lost: _LostPdu) -> list[Link]:
    """Return the links of the lost transmissions of a PDU, the last transmission first.

    Of more than three transmissions, those between the last and the first are one link.
    """
    links = [_block_lost(row, lost.number) for row in reversed(lost.transmissions)]
    if len(links) <= 3:
        return links
    last, *between, first = links
    text = f"PDU {lost.number} is lost in {len(between)} more transmissions."
    begin, end = between[-1].time_s, between[0].end_s
    numbers = {"ue": last.identity["ue"], "pdu": lost.number, "sn": lost.number % SEQUENCE_NUMBERS}
    return [last, Link("blocks_lost", begin, end, text, clause=last.clause, identity=numbers), first]


def _block_lost(row: Row, number: int) -> Link:
    """Return the link of one lost transmission of PDU `number`."""
    transmission = row["transmission"] or 1
    fate = "dropped by the full queue of the Node B" if row["lost_at"] == "nodeb_queue" else "lost on the air"
    ordinal = _ORDINALS.get(transmission, f"{transmission}th")
    text = f"PDU {number} is {fate} ({row['channel']}, {ordinal} transmission)."
    kind = "nodeb_queue_drop" if row["lost_at"] == "nodeb_queue" else "block_lost"
    numbers = {"ue": row["ue"], "pdu": number, "sn": number % SEQUENCE_NUMBERS, "block_set": row["block_set"]}
    return Link(kind, row["time_s"], row["end_s"], text, clause="TS 25.322 §11.3", identity=numbers)


def _reset_links(timeline: Timeline, ue: int, until_s: float, effect: str) -> list[Link]:
    """Explain a return of RLC to the initial state. `effect` is the sentence on its effect for the wait."""
    started = [
        event
        for event in timeline.ue_events.get(ue, ())
        if event["time_s"] <= until_s
        and event["kind"] in ("rlc_reset", "cell_update_rlc_error", "cell_update_radio_link_failure")
    ]
    if not started:
        return [
            Link("rlc_initial_state", until_s, until_s, effect, cause="rlc_reset", clause="TS 25.322 §11.4")
        ]
    event = started[-1]
    if event["kind"] == "rlc_reset":
        text, clause = f"{effect} The RESET procedure began ({event['direction']}).", "TS 25.322 §11.4"
    else:
        why = (
            "an unrecoverable error of RLC"
            if event["kind"] == "cell_update_rlc_error"
            else "a radio link failure"
        )
        text, clause = f"{effect} A cell update began after {why}.", "TS 25.331 §8.3.1"
    return [
        Link(
            event["kind"],
            event["time_s"],
            until_s,
            text,
            cause="rlc_reset",
            clause=clause,
            identity={"ue": ue},
        )
    ]


@dataclass(frozen=True)
class _Wait:
    """A wait of a connection that one cause of the time budget explains, possibly in several intervals."""

    cause: str
    ue: int
    interval: Row
    """The first interval with this cause."""
    time_s: float
    """Length of all intervals with this cause."""
    until_s: float
    """End of the whole wait, of which the intervals are a part."""

    def link(
        self, kind: str, start_s: float, end_s: float, text: str, clause: str = "", **more: object
    ) -> Link:
        """Return a link with the cause and the UE of the wait. `more` identifies further objects."""
        return Link(
            kind, start_s, end_s, text, cause=self.cause, clause=clause, identity={"ue": self.ue, **more}
        )


def wait_links(
    timeline: Timeline, connection: int, packet: Row | None, start_s: float, end_s: float, label: str
) -> list[Link]:
    """Explain the wait for a packet by its longest cause, among the causes that `label` covers.

    `label` is a cause of the time budget, or the label of a timeout, which covers several causes
    (`label_of_wait`). `packet` is the row of the segment, or None if it is unknown.
    """
    times: dict[str, float] = defaultdict(float)
    first_intervals: dict[str, Row] = {}
    for row in timeline.waits(connection, start_s, end_s):
        cause = row["cause"]
        if label in (cause, label_of_wait(cause, row["loss"] or "")):
            times[cause] += row["end_s"] - row["start_s"]
            first_intervals.setdefault(cause, row)
    if not times:
        return [unknown_link(start_s, end_s)]
    cause = max(times, key=lambda name: times[name])
    ue = packet["ue"] if packet is not None else timeline.connections[connection]["ue"]
    links = _buffer_links(timeline, packet, start_s, end_s, cause)
    wait = _Wait(cause, ue, first_intervals[cause], times[cause], end_s)
    return links + _cause_links(timeline, wait, packet)


def _buffer_links(
    timeline: Timeline, packet: Row | None, start_s: float, end_s: float, cause: str
) -> list[Link]:
    """Return the link of a packet that waits in the buffer of RLC. Empty for other packets."""
    sdu = None if packet is None else timeline.sdus.get(packet["packet"])
    if packet is None or sdu is None or sdu["time_s"] > end_s or cause in ("core_queue", "ack_loss"):
        return []
    leaves_s = sdu["last_sent_s"] if sdu["last_sent_s"] is not None else sdu["end_s"]
    until = end_s if leaves_s is None else leaves_s
    if until <= start_s or until <= sdu["time_s"]:
        return []
    ahead = sdu["ahead_octets"]
    behind = f" behind {count(ahead, 'byte')}" if ahead else ""
    text = f"The {describe(packet)} waits in RLC{behind}, until {seconds(until)}."
    numbers = {**identity(packet), "octets": sdu["octets"], "ahead_octets": ahead} | _pdu_range(sdu)
    return [Link("in_rlc", sdu["time_s"], until, text, clause="TS 25.322 §4.2.1.3", identity=numbers)]


def _cause_links(timeline: Timeline, wait: _Wait, packet: Row | None) -> list[Link]:
    """Return the links that explain a wait for a packet."""
    cause, ue = wait.cause, wait.ue
    start_s, end_s = wait.interval["start_s"], wait.interval["end_s"]
    if cause == "channel_switch":
        return _switch_links(timeline, wait)
    if cause == "dch_refused":
        return _refusal_links(timeline, wait)
    if cause in ("rlc_recovery", "status_prohibited", "nodeb_drop", "ack_channel", "reordering"):
        return _repair_links(timeline, wait, packet)
    if cause in ("rlc_reset", "rlc_reestablishment"):
        links = _reset_links(timeline, ue, end_s, f"RLC sends nothing for {duration(wait.time_s)}.")
        return [replace(link, cause=cause) for link in links]
    if cause == "handover":
        return [_handover_link(timeline, wait)]
    if cause in _OTHER_WAITS:
        text, clause = _OTHER_WAITS[cause]
        text = f"{text} {duration(wait.time_s)} from {seconds(start_s)} on."
        return [wait.link(cause, start_s, wait.until_s, text, clause)]
    if cause in ("unexplained", "not_visible"):
        return [unknown_link(start_s, end_s)]
    text = f"The connection waits for this: {cause_label(cause)}, {duration(wait.time_s)}."
    return [wait.link(cause, start_s, end_s, text)]


def _handover_link(timeline: Timeline, wait: _Wait) -> Link:
    handovers = [
        event
        for event in timeline.ue_events.get(wait.ue, ())
        if event["kind"] == "handover" and event["time_s"] <= wait.until_s
    ]
    begin_s = handovers[-1]["time_s"] if handovers else wait.interval["start_s"]
    new_cell = f" to cell {handovers[-1]['number']}" if handovers else ""
    text = f"The UE changes{new_cell}, which interrupts the DSCH."
    return wait.link("handover", begin_s, wait.interval["end_s"], text, "handover.interruption")


def _switch_links(timeline: Timeline, wait: _Wait) -> list[Link]:
    """Explain a time in which a UE is switched or is in a state without user data."""
    ue, start_s, end_s = wait.ue, wait.interval["start_s"], wait.interval["end_s"]
    rows = [
        row
        for row in timeline.rrc.get(ue, ())
        if row["time_s"] <= end_s and (row["end_s"] is None or row["end_s"] > start_s)
    ]
    switches = [row for row in rows if row["to"]]
    if not switches:
        state = rows[-1]["state"] if rows else "a state without user data"
        text = f"The UE is in {state}, which carries no user data, for {duration(wait.time_s)}."
        return [wait.link("rrc_state", start_s, end_s, text, "TS 25.331 §7.1")]
    row = switches[0]
    until = timeline.duration_s if row["end_s"] is None else row["end_s"]
    because = _SWITCH_REASONS.get(row["cause"], row["cause"])
    text = (
        f"The UE is switched from {row['state']} to {row['to']}, from {seconds(row['time_s'])} to "
        f"{seconds(until)}, because {because}. No user data moves meanwhile."
    )
    states = {"from": row["state"], "to": row["to"]}
    return [wait.link("rrc_switch", row["time_s"], until, text, "TS 25.331 §8.2.2", **states)]


def _refusal_links(timeline: Timeline, wait: _Wait) -> list[Link]:
    """Explain a time on common channels because a DCH was refused."""
    ue, start_s, end_s = wait.ue, wait.interval["start_s"], wait.interval["end_s"]
    refused = [
        row
        for row in timeline.dch_requests.get(ue, ())
        if row["answer"] in ("refused", "queued")
        and row["end_s"] is not None
        and row["end_s"] <= wait.until_s
    ]
    text = (
        f"The UE stays on common channels, which take {duration(wait.time_s)} longer than the requested DCH."
    )
    stay = wait.link("dch_refused", start_s, end_s, text, "TS 25.331 §7.1")
    if not refused:
        return [stay]
    last = refused[-1]
    in_wait = [row for row in refused if row["end_s"] >= start_s - _EPSILON_S]
    again = f", {count(len(in_wait), 'time')} in this wait" if len(in_wait) > 1 else ""
    holders = last["holders"].split()
    of_ues = f"{'UE' if len(holders) == 1 else 'UEs'} {joined(holders)}"
    held = f" The DCHs of the cell belong to {of_ues}." if holders else ""
    text = f"Admission {last['answer']} the request of UE {ue} for a DCH{again}.{held}"
    numbers = {"dchs": last["dchs"], "holders": [int(holder) for holder in holders]}
    answer = wait.link("dch_request", last["time_s"], last["end_s"], text, "cell.admission", **numbers)
    return [stay, answer]


def _repair_links(timeline: Timeline, wait: _Wait, packet: Row | None) -> list[Link]:
    """Explain a time in which RLC repairs a lost PDU: links of the repair, STATUS reports, and losses.

    Acknowledged mode delivers in order, so later PDUs wait until the lost one has arrived.
    """
    cause, ue = wait.cause, wait.ue
    start_s, end_s = wait.interval["start_s"], wait.interval["end_s"]
    repair = _repaired_pdu(timeline, wait, packet)
    if repair is None:
        text = f"RLC repairs lost PDUs for {duration(wait.time_s)}."
        return [wait.link("rlc_recovery", start_s, end_s, text, "TS 25.322 §11.3")]
    direction, lost = repair
    number = lost.number
    numbers = {"pdu": number, "sn": number % SEQUENCE_NUMBERS}
    first_loss = lost.transmissions[0]
    lost_s = first_loss["time_s"]
    rows = timeline.pdus[ue, direction]
    arrived = next(
        (
            row
            for row in rows[bisect_right(rows, lost_s, key=_sent) :]
            if row["first"] is not None
            and row["first"] <= number <= row["last"]
            and not row["lost"]
            and row["end_s"] is not None
        ),
        None,
    )
    until = "" if arrived is None else f", until {seconds(arrived['end_s'])}"
    text = f"RLC repairs PDU {number}{until}. Later PDUs wait."
    stop = end_s if arrived is None else arrived["end_s"]
    links = [wait.link("rlc_recovery", first_loss["end_s"], stop, text, "TS 25.322 §11.3", **numbers)]
    links += _status_links(timeline, wait, direction, number, lost_s, stop)
    links += _misread_links(timeline, wait, lost_s, stop)
    lost_links = _block_losses(lost)
    lost_links[-1] = replace(lost_links[-1], cause=cause)
    return links + lost_links


def _misread_links(timeline: Timeline, wait: _Wait, start_s: float, end_s: float) -> list[Link]:
    """Return the link of blocks of an HS-DSCH whose transmission sequence numbers the UE misread.

    After the loss of a whole receiver window the next numbers look like those of earlier blocks.
    """
    instants = [
        event["time_s"]
        for event in timeline.ue_events.get(wait.ue, ())
        if event["kind"] == "tsn_misread" and start_s <= event["time_s"] <= end_s
    ]
    if not instants:
        return []
    blocks = count(len(instants), "block")
    text = (
        f"MAC-hs of the UE discards {blocks} as duplicates, from {seconds(instants[0])} to "
        f"{seconds(instants[-1])}: a whole receiver window of blocks was lost before them."
    )
    numbers = {"blocks": len(instants)}
    return [wait.link("tsn_misread", instants[0], instants[-1], text, "TS 25.321 §11.6.2", **numbers)]


def _repaired_pdu(timeline: Timeline, wait: _Wait, packet: Row | None) -> tuple[str, _LostPdu] | None:
    """Return the direction and the lost PDU that is repaired in this wait. None if none is known.

    Rows are searched backwards from the end of the wait to the first transmission of the PDU.
    """
    directions = ("downlink", "uplink")
    if packet is not None and packet["direction"] == "uplink":
        directions = ("uplink", "downlink")
    for direction in directions:
        rows = timeline.pdus.get((wait.ue, direction), [])
        number: int | None = None
        losses: list[Row] = []
        for row in reversed(rows[: bisect_right(rows, wait.interval["end_s"], key=_sent)]):
            if row["first"] is None:
                continue
            if number is None:
                number = _lost_number(row, wait.interval["sn"])
            if number is not None and row["first"] <= number <= row["last"]:
                if row["lost"]:
                    losses.append(row)
                if row["transmission"] == 1:
                    break
        if number is not None:
            return direction, _LostPdu(number, losses[::-1])
    return None


def _sent(row: Row) -> float:
    return float(row["time_s"])


def _lost_number(row: Row, sn: int | None) -> int | None:
    """Return the number of the PDU with sequence number `sn` if this row lost it, else None.

    If `sn` is None, any PDU will do. Numbers of PDUs do not wrap around, sequence numbers do.
    """
    if not row["lost"]:
        return None
    if sn is None:
        return int(row["first"])
    # The first number from `first` on that has this sequence number.
    number = int(row["first"]) + (sn - row["first"]) % SEQUENCE_NUMBERS
    return number if number <= row["last"] else None


def _status_links(
    timeline: Timeline, wait: _Wait, direction: str, number: int, lost_s: float, stop_s: float
) -> list[Link]:
    """Return the STATUS reports that list PDU `number` as missing, the last one first.

    `direction` is the direction of the PDU. If Timer_Status_Prohibit delays the STATUS, the timer
    is the last link.
    """
    cause, ue = wait.cause, wait.ue
    back = "uplink" if direction == "downlink" else "downlink"
    links = []
    rows = timeline.statuses.get((ue, back), ())
    for row in rows:
        if not lost_s <= row["time_s"] <= stop_s or not _lists(row["missing"], number):
            continue
        fate = "is lost on the air" if row["lost"] else f"arrives at {seconds(row['end_s'] or stop_s)}"
        text = f"A STATUS that lists PDU {number} as missing {fate}."
        numbers = {"ue": ue, "pdu": number, "block_set": row["block_set"]}
        end = row["end_s"] if row["end_s"] is not None else row["time_s"]
        links.append(Link("status", row["time_s"], end, text, clause="TS 25.322 §9.7.2", identity=numbers))
    if cause == "status_prohibited":
        first_status_s = links[0].time_s if links else stop_s
        earlier = [row for row in rows if row["time_s"] <= first_status_s - _EPSILON_S]
        before = f" after the STATUS at {seconds(earlier[-1]['time_s'])}" if earlier else ""
        text = f"Timer_Status_Prohibit delays the STATUS{before}."
        start = earlier[-1]["time_s"] if earlier else lost_s
        prohibited = wait.link(cause, start, stop_s, text, "TS 25.322 §9.5")
        return [*reversed(links[:2]), prohibited]
    return [*reversed(links[-2:])]


def _lists(missing: str, number: int) -> bool:
    """Whether the text of a STATUS lists a PDU.

    >>> _lists("1423 1425-1427", 1426), _lists("1423", 1424)
    (True, False)
    """
    for word in missing.split():
        first, _, last = word.partition("-")
        if int(first) <= number <= int(last or first):
            return True
    return False


def waits_beside(
    timeline: Timeline, connection: int, start_s: float, end_s: float, label: str
) -> tuple[str, ...]:
    """Describe the waits of the connection that are not covered by `label`, the longest first."""
    times: dict[str, float] = defaultdict(float)
    for row in timeline.waits(connection, start_s, end_s):
        if label not in (row["cause"], row["loss"], label_of_wait(row["cause"], row["loss"] or "")):
            times[row["cause"]] += row["end_s"] - row["start_s"]
    least = _MIN_SHARE_BESIDE * (end_s - start_s)
    return tuple(
        f"{cause_label(cause)}: {duration(time_s)}"
        for cause, time_s in sorted(times.items(), key=lambda item: (-item[1], item[0]))
        if time_s >= least
    )
