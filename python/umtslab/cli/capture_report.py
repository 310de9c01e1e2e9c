"""Analysis of captures for ``umts analyse``, and its output.

Imports no library that is slow to load, because most captures are analysed in a fraction of a
second.
"""

from __future__ import annotations

import json as json_text
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from umtslab.analyse.statistics import summarise_metrics
from umtslab.captures import (
    HEADLINE,
    MAX_CONNECTIONS,
    CaptureAnalysis,
    PacketRange,
    analyse_captures,
    draw_ladder,
    draw_time_sequence,
    units,
)
from umtslab.cli.failures import UsageError
from umtslab.cli.output_files import check_figure_file, check_folder
from umtslab.cli.progress import ProgressLine
from umtslab.ladder import FIGURE_PACKETS, MAX_FIGURE_PACKETS, csv
from umtslab.numbers import number
from umtslab.text_table import Table, heading, show
from umtslab.version import code_version

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_SHOWN = 20
"""Maximum number of connections or UDP flows in a printed table.

If there are more connections, none is listed. If there are more UDP flows, only those with the most
payload are.
"""

_MAX_TABLE = 1_000_000
"""Maximum number of packets in a table, unless the user gives a range."""

_ROWS_PER_CHUNK = 1000
"""Number of rows that are converted to JSON at once."""

_FLOW_COLUMNS = {
    "packets": "packets",
    "payload (B)": "payload_bytes",
    "rate (kbit/s)": "rate_kbps",
    "mean gap (s)": "mean_gap_s",
    "longest gap (s)": "longest_gap_s",
    "spin RTT (s)": "spin_rtt_s",
    "reverse packets": "reverse_packets",
}
"""Columns of the table of UDP flows: heading to key of the flow."""

_CONNECTION_METRICS = (
    "goodput_active_kbps",
    "mean_rtt_s",
    "total_packets",
    "tcp_retransmissions",
    "rto_count",
)


class Drawing(NamedTuple):
    """Files to write about one connection."""

    plot: Path | None = None
    """The time-sequence diagram."""
    ladder: Path | None = None
    """The ladder, as a figure or as a table."""
    first: int = 1
    """First packet of the ladder, counted from 1."""
    last: int | None = None
    """Last packet of the ladder. None: the default."""

    @property
    def option(self) -> str:
        """The option that chose a file, or an empty text."""
        return "--plot" if self.plot is not None else "--ladder" if self.ladder is not None else ""

    def request(self, connection: int) -> dict[str, Any]:
        """Return the arguments of the analysis that collects the data of the file."""
        if self.ladder is None:
            return {"time_sequence": connection}
        default = self.first - 1 + (_MAX_TABLE if self.ladder.suffix == ".csv" else FIGURE_PACKETS)
        most = (default if self.last is None else self.last) - self.first + 1
        return {"packets": PacketRange(connection, self.first, most=most)}


def report(
    captures: tuple[Path, ...],
    connection: int | None = None,
    drawing: Drawing = Drawing(),  # noqa: B008, an immutable tuple
    *,
    limit: int = MAX_CONNECTIONS,
    show_all: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Analyse captures and print the result. The arguments are as for ``umts analyse``."""
    _check(captures, connection, drawing)
    with ProgressLine(quiet=quiet) as line:
        analyses = analyse_captures(
            captures,
            **(drawing.request(connection) if drawing.option and connection is not None else {}),
            connection=connection,
            most_connections=limit,
            progress=lambda fraction: line.show("reading", fraction, 1.0),
        )
        if drawing.option:
            _draw(analyses[0], connection, limit, drawing, line)
    if connection is not None:
        _check_connection(analyses, connection)
    if not quiet:
        for analysis in analyses:
            for warning in analysis.warnings:
                print(f"warning: {analysis.file}: {warning}", file=sys.stderr)
    if json:
        _write_json(analyses, connection, sys.stdout)
    else:
        _print(analyses, connection, show_all=show_all)
    return 0


def _write_json(analyses: list[CaptureAnalysis], connection: int | None, out: TextIO) -> None:
    """Write the same JSON object as ``umts run``, with ``file`` instead of ``seed`` in each run.

    A capture may have a million connections. Their rows are written in chunks, one row per line.
    """
    metrics = [_without_infinities(analysis.metrics) for analysis in analyses]
    version = json_text.dumps(str(code_version()))
    out.write(f'{{\n "scenario": null,\n "version": {version},\n "runs": [')
    for index, (analysis, metrics_of_capture) in enumerate(zip(analyses, metrics, strict=True)):
        head = {
            "file": analysis.file,
            "start_s": analysis.start_s,
            "duration_s": analysis.duration_s,
            "counts": analysis.counts,
            "passed_over": analysis.passed_over,
            "warnings": analysis.warnings,
            "metrics": metrics_of_capture,
        }
        text = json_text.dumps(head, indent=1, allow_nan=False).removesuffix("\n}")
        out.write(f'{"," if index else ""}\n{text},\n "connections": [')
        separator = "\n  "
        for chunk in _row_chunks(analysis, connection):
            out.write(separator + chunk.rstrip("\n").replace("\n", ",\n  "))
            separator = ",\n  "
        out.write(f"]{_rest(analysis)}")
        _write_udp(analysis, out)
        out.write("\n}")
    summary = {name: summary.as_dict() for name, summary in summarise_metrics(metrics).items()}
    out.write(f'],\n "summary": {json_text.dumps(summary, indent=1, allow_nan=False)}\n}}\n')


def _write_udp(analysis: CaptureAnalysis, out: TextIO) -> None:
    """Write the members ``udp_flows`` and ``udp_rest``, if the capture has UDP flows."""
    count = len(analysis.core.udp_flows)
    if not count:
        return
    out.write(',\n "udp_flows": [')
    separator = "\n  "
    for first in range(0, count, _ROWS_PER_CHUNK):
        lines = analysis.core.udp_flow_lines(first, _ROWS_PER_CHUNK)
        out.write(separator + lines.rstrip("\n").replace("\n", ",\n  "))
        separator = ",\n  "
    out.write("]")
    if analysis.udp_rest["packets"]:
        out.write(f',\n "udp_rest": {json_text.dumps(analysis.udp_rest)}')


def _rest(analysis: CaptureAnalysis) -> str:
    """Return the member ``rest``, the sum of the connections without rows, or an empty text."""
    if analysis.rest is None:
        return ""
    count, metrics = analysis.rest
    rest = {"connections": count, "metrics": _without_infinities(metrics)}
    return f',\n "rest": {json_text.dumps(rest, allow_nan=False)}'


def _check(captures: tuple[Path, ...], connection: int | None, drawing: Drawing) -> None:
    """Raise an error for options that do not fit these captures."""
    if drawing.option:
        _check_drawing(captures, drawing)
    standard_input = sum(str(capture) == "-" for capture in captures)
    if standard_input > 1:
        raise UsageError("standard input can be read only once: give '-' once")
    if standard_input and sys.stdin.isatty():
        raise UsageError(
            "standard input is a terminal: pipe a capture into it, for example tcpdump -w - | umts analyse -"
        )
    if standard_input and drawing.option and connection is None:
        raise UsageError(
            f"{drawing.option} needs --connection with standard input, which can be read only once"
        )


def _check_drawing(captures: tuple[Path, ...], drawing: Drawing) -> None:
    """Raise an error if a file cannot be written, before the captures are read."""
    if drawing.plot is not None and drawing.ladder is not None:
        raise UsageError("--plot and --ladder write different files: give one of them, then the other")
    if drawing.plot is not None:
        check_figure_file(drawing.plot)
    elif drawing.ladder is not None and drawing.ladder.suffix == ".csv":
        check_folder(drawing.ladder)
    elif drawing.ladder is not None:
        check_figure_file(drawing.ladder, other=".csv")
        if drawing.last is not None and drawing.last - drawing.first >= MAX_FIGURE_PACKETS:
            raise UsageError(
                f"a ladder has at most {MAX_FIGURE_PACKETS} packets: give a shorter range to --packets, or a "
                "CSV file to --ladder"
            )
    if len(captures) > 1:
        raise UsageError(f"{drawing.option} draws a connection of one capture: give one capture")


def _check_connection(analyses: list[CaptureAnalysis], connection: int) -> None:
    """Raise an error if a capture has no connection of this number."""
    for analysis in analyses:
        count = analysis.connection_count
        if connection >= count:
            numbers = f"has connections 0 to {count - 1}" if count else "has no connection"
            raise UsageError(f"there is no connection {connection}: {analysis.file} {numbers}")


def _draw(
    analysis: CaptureAnalysis, connection: int | None, limit: int, drawing: Drawing, line: ProgressLine
) -> None:
    """Draw a connection of a capture, by default the one with the most payload.

    `limit` is the limit on connections of the analysis, on which the numbers of connections depend.
    """
    from umtslab.plot import save

    chosen = connection
    if chosen is None:
        table = analysis.connections().sort("payload_bytes", "acknowledged_bytes", nulls_last=False)
        if table.is_empty():
            raise UsageError(f"{analysis.file} has no TCP connection to draw")
        chosen = int(table["connection"][-1])
        # The file is read again because the connection is known only now. Keeping the packets of
        # all connections in the first pass would need too much memory.
        [analysis] = analyse_captures(
            [analysis.file],
            **drawing.request(chosen),
            connection=chosen,
            most_connections=limit,
            progress=lambda fraction: line.show("reading", fraction, 1.0),
        )
    else:
        _check_connection([analysis], chosen)
    if drawing.plot is not None:
        save(draw_time_sequence(analysis, chosen), drawing.plot)
    elif drawing.ladder is not None:
        _write_ladder(analysis, chosen, drawing.first, drawing.ladder)


def _write_ladder(analysis: CaptureAnalysis, connection: int, first: int, path: Path) -> None:
    """Write the packets of a connection as a figure or as a table."""
    from umtslab.atomic_files import atomic_file
    from umtslab.plot import save

    table = analysis.packets()
    if table.is_empty():
        count = analysis.packet_counts["packets"]
        raise UsageError(f"there is no packet {first}: connection {connection} has {count} packets")
    if path.suffix == ".csv":
        with atomic_file(path) as file:
            file.write(csv(table).encode())
    else:
        save(draw_ladder(analysis, connection), path)


def _print(analyses: list[CaptureAnalysis], connection: int | None, *, show_all: bool) -> None:
    """Print each analysis: counts of packets, then one connection or the tables."""
    for index, analysis in enumerate(analyses):
        if index:
            print()
        # Rows are created only if they are shown: a capture may have a million connections.
        count = len(analysis.core.connections)
        rows = _rows(analysis, connection) if connection is not None or count <= _MAX_SHOWN else []
        heading(analysis.file)
        print(_packet_counts(analysis))
        if analysis.passed_over:
            counts = sorted(analysis.passed_over.items(), key=lambda item: (-item[1], item[0]))
            print("skipped: " + ", ".join(f"{count} {reason}" for reason, count in counts))
        if connection is not None:
            print()
            print(_connection_sentence(rows[0]))
            show(_metrics_table(rows[0], show_all=show_all))
            continue
        if count:
            _print_connections(analysis, rows, show_all=show_all)
        _print_udp(analysis)


def _print_connections(analysis: CaptureAnalysis, rows: list[dict[str, Any]], *, show_all: bool) -> None:
    print()
    show(_metrics_table(analysis.metrics, show_all=show_all))
    if len(rows) == 1 and analysis.rest is None:
        print(f"\n{_connection_sentence(rows[0])}")
    elif rows or analysis.rest is not None:
        print()
        show(_connections_table(rows, analysis.rest))


def _print_udp(analysis: CaptureAnalysis) -> None:
    """Print the UDP flows with the most payload, in both directions together."""
    count = len(analysis.core.udp_flows)
    if not count:
        return
    lines = analysis.core.udp_flow_lines(0, count).splitlines()
    flows = [json_text.loads(line) for line in lines]
    flows.sort(key=lambda flow: flow["payload_bytes"] + flow["reverse_payload_bytes"], reverse=True)
    table = Table(">UDP flow", "client", "server", "sender", *(f">{heading}" for heading in _FLOW_COLUMNS))
    for flow in flows[:_MAX_SHOWN]:
        identity = (str(flow[name]) for name in ("flow", "client", "server", "sender"))
        table.add_row(*identity, *(number(flow[name]) for name in _FLOW_COLUMNS.values()))
    if count > _MAX_SHOWN:
        table.add_row("", f"{count - _MAX_SHOWN} more", "", "", *("" for _ in _FLOW_COLUMNS))
    print()
    show(table)


def _packet_counts(analysis: CaptureAnalysis) -> str:
    """Return the line with the numbers of packets, the time and the number of connections."""
    counts = analysis.counts
    connections = analysis.connection_count
    plural = "" if connections == 1 else "s"
    udp_count = f", {counts['udp']} of UDP" if counts["udp"] else ""
    return (
        f"{counts['packets']} packets, {counts['tcp']} of TCP{udp_count}, in {analysis.duration_s:.6g} s; "
        f"{connections} connection{plural}"
    )


def _connection_sentence(row: dict[str, Any]) -> str:
    """Describe the ends of a connection and the options of its handshake."""
    sender = row["sender"]
    receiver = "server" if sender == "client" else "client"
    parts = [
        f"connection {row['connection']}: data from {row[sender]} ({sender}) to {row[receiver]}",
        f"captured {_POSITIONS[row['position']]}",
        str(row["ended"]),
    ]
    if row["mss"] is not None:
        parts.append(f"MSS {row['mss']}")
    if row["window_scale"] is not None:
        parts.append(f"window scale {row['window_scale']}")
    parts += [
        f"TEID of the {end}'s packets {row[f'{end}_teid']:#x}"
        for end in ("client", "server")
        if row[f"{end}_teid"] is not None
    ]
    for option, name in (("sack_permitted", "SACK"), ("timestamps", "timestamps")):
        if row[option] is not None:
            parts.append(name if row[option] else f"no {name}")
    return ", ".join(parts)


_POSITIONS = {
    "sender": "at the sender",
    "receiver": "at the receiver (round-trip times and outstanding data are not the sender's)",
    "between": "between the ends (round-trip times and outstanding data are not the sender's)",
    "unknown": "at an unknown place (no handshake)",
}


def _metrics_table(metrics: dict[str, Any], *, show_all: bool) -> Table:
    table = Table("metric", ">value", "unit")
    for name, unit in units().items():
        value = metrics.get(name)
        if value is not None and (show_all or name in HEADLINE):
            table.add_row(name, number(value), "" if unit == "1" else unit)
    return table


def _connections_table(rows: list[dict[str, Any]], rest: tuple[int, dict[str, Any]] | None) -> Table:
    unit_of = units()
    headings = [
        f">{name}" if unit_of[name] == "1" else f">{name} ({unit_of[name]})" for name in _CONNECTION_METRICS
    ]
    table = Table(">connection", "client", "server", "sender", "position", *headings)
    for row in rows:
        identity = (str(row[name]) for name in ("connection", "client", "server", "sender", "position"))
        table.add_row(*identity, *(number(row[name]) for name in _CONNECTION_METRICS))
    if rest is not None:
        count, metrics = rest
        table.add_row(
            "rest", f"{count} more", "", "", "", *(number(metrics[name]) for name in _CONNECTION_METRICS)
        )
    return table


def _rows(analysis: CaptureAnalysis, connection: int | None) -> list[dict[str, Any]]:
    return [
        json_text.loads(line) for chunk in _row_chunks(analysis, connection) for line in chunk.splitlines()
    ]


def _row_chunks(analysis: CaptureAnalysis, connection: int | None) -> Iterator[str]:
    """Yield the JSON rows of one or all connections in chunks, one row per line."""
    if connection is not None:
        yield analysis.core.connection_lines(connection, 1)
        return
    for first in range(0, len(analysis.core.connections), _ROWS_PER_CHUNK):
        yield analysis.core.connection_lines(first, _ROWS_PER_CHUNK)


def _without_infinities(row: dict[str, Any]) -> dict[str, Any]:
    """Replace infinite values and NaN, which JSON does not have, by None."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
