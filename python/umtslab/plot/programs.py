"""Figures of emulated runs: where what is drawn of real programs comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from umtslab.plot import Kind
    from umtslab.plot.tables import View
    from umtslab.run import Run

_OF_KERNEL = {"cwnd", "srtt", "ssthresh", "rto"}
"""Series that only the kernel knows, of which packets tell nothing."""


def of_programs(run: Run, kind: Kind) -> Kind:
    """The kind of figure that shows of this run what `kind` shows of a simulated one.

    Round-trip times are those of the programs' packets, of TCP and of echoes, without what a sender makes of
    them.

    Raises
    ------
    umtslab.run.MissingSeries
        If it shows what the kernel alone knows.
    """
    from umtslab.run import MissingSeries

    if not run.is_emulated or not run.series_kinds():
        return kind
    if kind.name == "rtt":
        return replace(kind, name="program_rtt", series=("program_rtt",))
    if _OF_KERNEL.intersection(kind.series):
        captures = [file for file in run.captures() if file.name == "server.pcapng"]
        where = captures[0] if captures else ".../captures/server.pcapng"
        before = "" if captures else "run it again with --pcap, then "
        raise MissingSeries(
            "the kernel's windows are not visible, so nothing was recorded of them; what packets tell: "
            f"{before}umts analyse {where} --plot FILE.png"
        )
    return kind


def all_users(run: Run, kind: Kind, name: str, view: View) -> pl.DataFrame:
    """A series of a run as `kind` shows it; of a cell, with what is of simulated users beside programs."""
    import polars as pl

    from umtslab.plot.tables import table

    rows = table(run, name, view)
    beside = f"simulated_{name}"
    if kind.name != "cell" or beside not in run.series_kinds():
        return rows
    return pl.concat([rows, table(run, beside, view)])
