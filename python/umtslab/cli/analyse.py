"""``umts analyse``: TCP metrics of packet captures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.captures import MAX_CONNECTION_LIMIT, MAX_CONNECTIONS
from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_all, add_json, add_out, add_quiet
from umtslab.cli.parser import whole_number
from umtslab.ladder import FIGURE_PACKETS, MAX_FIGURE_PACKETS

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts analyse``."""
    parser.explain(
        "The metrics have the names of the simulation's metrics. A truncated or damaged file is "
        "analysed up to the damage, with a warning. Exit status: 0 done; 2 wrong usage, or a file "
        "that is not a capture."
    )
    parser.add_argument(
        "captures",
        nargs="+",
        metavar="CAPTURE",
        help=(
            "pcap or pcapng files, also compressed (.gz, .zst, .lz4), each analysed separately; `-` "
            "is standard input. A folder means all captures in it, a result the captures of its "
            "runs."
        ),
    )
    shown = parser.add_argument_group("output")
    shown.add_argument(
        "--connection",
        "-c",
        type=whole_number,
        metavar="N",
        help=(
            "Number of a connection, counted from 0 as in tshark: the connection to show, and to "
            "draw with --plot."
        ),
    )
    shown.add_argument(
        "--connections-limit",
        type=whole_number,
        metavar="N",
        default=MAX_CONNECTIONS,
        help=(
            "Maximum number of connections in memory at a time, and of connections with a row of "
            "their own: the first ones. All others are summed in one row, the rest (default: "
            f"{MAX_CONNECTIONS}, which keeps the analysis below 300 MB; a connection takes about 4 "
            "kB). The same number of UDP flows have rows. With --split, the first connections of "
            "each capture are paired."
        ),
    )
    shown.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help=(
            "Draw a time-sequence diagram with retransmissions and selective acknowledgments into "
            "this file (PNG, SVG or PDF, by its suffix): of the connection of --connection, or of "
            "the one that sent most."
        ),
    )
    shown.add_argument(
        "--ladder",
        type=Path,
        metavar="FILE",
        help=(
            "Write the packets of a connection into this file, chosen as for --plot: as a ladder of arrows "
            "between client and server with sequence numbers, retransmissions and duplicate ACKs (PNG, "
            "SVG or PDF), or as a table (CSV)."
        ),
    )
    shown.add_argument(
        "--packets",
        metavar="FIRST-LAST",
        help=(
            f"Packets of --ladder, counted from 1 in the connection, such as 101-160 (default: "
            f"1-{FIGURE_PACKETS} in a figure, all in a table). A figure has at most {MAX_FIGURE_PACKETS}."
        ),
    )
    shown.add_argument(
        "--split",
        action="store_true",
        help=(
            "Pair the connections of two captures, one from each side of a splitting proxy. Shows "
            "the delay through the proxy, the octets that it acknowledged ahead of the receiver, and "
            "the end of each side."
        ),
    )
    add_all(shown)
    add_out(shown, "Results folder in which names are looked up")
    add_json(shown)
    add_quiet(shown, "Print no progress bar and no warnings.")


def analyse(
    captures: Sequence[str],
    *,
    connection: int | None,
    connections_limit: int,
    plot: Path | None,
    ladder: Path | None,
    packets: str | None,
    split: bool,
    show_all: bool,
    out: Path,
    json: bool,
    quiet: bool,
) -> int:
    """Analyse captures and print their metrics. `options` declares the arguments."""
    from umtslab.cli.capture_files import captures_of, command_for_pdus
    from umtslab.cli.capture_report import Drawing, report

    files, pdus = captures_of(captures, out)
    if pdus and not quiet:
        skipped = f"{len(pdus)} captures of RLC PDUs or of the Iub contain no TCP and are skipped"
        note = f"{skipped}: {command_for_pdus(pdus[0])}"
        print(f"note: {note}", file=sys.stderr)
    _check_range("--connections-limit", connections_limit, 1, MAX_CONNECTION_LIMIT)
    if connection is not None:
        _check_range("--connection", connection, 0, MAX_CONNECTION_LIMIT)
    if packets is not None and ladder is None:
        raise UsageError("--packets chooses packets of --ladder: give --ladder FILE too")
    if split:
        from umtslab.cli.split_report import split_report

        return split_report(files, limit=connections_limit, json=json, quiet=quiet)
    return report(
        tuple(files),
        connection,
        Drawing(plot, ladder, *_packet_range(packets)),
        limit=connections_limit,
        show_all=show_all,
        json=json,
        quiet=quiet,
    )


def _packet_range(text: str | None) -> tuple[int, int | None]:
    """Return the first and the last packet of a range such as ``101-160``."""
    if text is None:
        return 1, None
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) < 2**63):
        raise UsageError(f"--packets takes a range such as 101-160, counted from 1, not {text}")
    return int(first), int(last)


def _check_range(option: str, value: int, minimum: int, maximum: int) -> None:
    if not minimum <= value <= maximum:
        raise UsageError(f"{option} takes a whole number from {minimum} to {maximum}, not {value}")
