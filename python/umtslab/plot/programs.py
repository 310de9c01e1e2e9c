"""Chooses kinds of figures and series for emulated runs.

In an emulation real programs send, so some series of simulations do not exist, and others have other
names: round-trip times, for example, are measured on packets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from umtslab.plot import Kind
    from umtslab.plot.tables import View
    from umtslab.run import Run

_KERNEL_SERIES = {"cwnd", "srtt", "ssthresh", "rto"}
"""Series known only to the kernel, which packets do not show."""


def kind_for_run(run: Run, kind: Kind) -> Kind:
    """Return the kind of figure for this run that corresponds to `kind` for a simulated run.

    Round-trip times of an emulation are measured on packets (TCP and echo requests). Values that the
    kernel derives from them, such as the RTO, are unknown.

    Raises
    ------
    umtslab.run.MissingSeries
        If the figure needs data known only to the kernel.
    """
    from umtslab.run import MissingSeries

    if not run.is_emulated or not run.series_kinds():
        return kind
    if kind.name == "rtt":
        return replace(kind, name="program_rtt", series=("program_rtt",))
    if _KERNEL_SERIES.intersection(kind.series):
        captures = [file for file in run.captures() if file.name == "server.pcapng"]
        capture = captures[0] if captures else ".../captures/server.pcapng"
        command = "" if captures else "run it again with --pcap, then "
        raise MissingSeries(
            "the kernel's windows are not visible, so the run has no series of them; figures from "
            f"its packets: {command}umts analyse {capture} --plot FILE.png"
        )
    return kind


def all_users(run: Run, kind: Kind, name: str, view: View) -> pl.DataFrame:
    """Read a series of a run for `kind`.

    For the kind ``cell`` of an emulation, the rows of simulated users are appended.
    """
    import polars as pl

    from umtslab.plot.tables import table

    rows = table(run, name, view)
    simulated_name = f"simulated_{name}"
    if kind.name != "cell" or simulated_name not in run.series_kinds():
        return rows
    return pl.concat([rows, table(run, simulated_name, view)])
