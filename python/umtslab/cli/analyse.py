"""``umts analyse``: TCP metrics of packet captures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from umtslab.cli.capture_report import report


def analyse(
    *captures: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    connection: Annotated[int | None, Parameter(name=["--connection", "-c"])] = None,
    plot: Path | None = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """TCP metrics of packet captures, under the names of the simulation's metrics.

    A file that is cut off or damaged is analysed up to there, with a warning. Exit status: 0 done, 2 wrong
    usage, or a file that is no capture.

    Parameters
    ----------
    captures
        pcap or pcapng files, each analysed for itself; `-` is standard input.
    connection
        Number of a connection, counted from 0 as by tshark: the one to show, and to draw with `--plot`.
    plot
        Draw a time-sequence diagram with retransmissions and selective acknowledgments into this file:
        PNG, SVG or PDF, by its suffix. Without `--connection`, of the connection that sent most.
    all_
        Show every metric.
    json
        Print one JSON object on standard output and nothing else there.
    quiet
        No progress bar, and no warnings on standard error.
    """
    return report(captures, connection, plot, show_all=all_, json=json, quiet=quiet)
