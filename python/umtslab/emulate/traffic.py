"""TCP metrics, connections and time series of programs, derived from captured packets.

Both ends are captured, and each connection is evaluated as its sender of data saw it. Packets do
not show the kernel's windows and timers, so there are no metrics of these.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core

if TYPE_CHECKING:
    import polars as pl

TCP_SERIES = ("sent", "acked", "outstanding", "goodput", "cwnd", "ssthresh", "rtt", "srtt", "rto")
"""Series of TCP.

In an emulation these are the series of programs. Series of simulated users have the prefix
``simulated_``.
"""

SIMULATED_CONNECTIONS = "simulated_connections"
"""The table of the connections of simulated users, like ``connections`` of a simulation."""

WINDOW_S = 1.0
"""Length of the windows of ``goodput`` in seconds, as in a simulation."""

_UES = (ipaddress.ip_network("10.45.0.0/16"), ipaddress.ip_network("fd45::/112"))
"""Networks of UE addresses."""

_ADDRESSES_BEFORE_UES = 2
"""The first two addresses of a network are the network's own and the server side's."""


def simulated(name: str) -> str:
    """Return the name of a table of simulated users beside programs."""
    return f"simulated_{name}"


@dataclass(frozen=True)
class Traffic:
    """TCP traffic of programs."""

    metrics: dict[str, float | None]
    connections: pl.DataFrame
    """One row each, as for a capture, with times of the run.

    ``ue`` is null with ``--attach-ue``.
    """
    series: dict[str, pl.DataFrame] = field(default_factory=dict)

    @staticmethod
    def unknown() -> Traffic:
        """Return the traffic for captures that could not be written."""
        import polars as pl

        names = (entry["name"] for entry in _core.capture_metric_definitions())
        none = pl.DataFrame(schema={"connection": pl.UInt32, "ue": pl.UInt32})
        return Traffic(dict.fromkeys(names), none)


def of_captures(server: Path, ue: Path, duration_s: float, *, series: bool) -> Traffic:
    """Analyse the captures of the server side and of the UEs, of an emulation of `duration_s`.

    Each connection is evaluated as its sender of data saw it.
    """
    import polars as pl

    analysis = _core.analyse_both_ends(str(server), str(ue), series=series)
    start = pl.lit(analysis.start_s or 0.0)
    rows = pl.DataFrame(analysis.connections).sort("connection")
    connections = rows.with_columns(
        pl.col("connection").cast(pl.UInt32), pl.col("opened_s") + start, pl.col("closed_s") + start
    )
    ues = [_ue_of(*ends) for ends in rows.select("client", "server").iter_rows()]
    connections.insert_column(1, pl.Series("ue", ues, dtype=pl.UInt32))
    captured = {name: _in_run_time(pl.DataFrame(table), start) for name, table in analysis.series.items()}
    series_tables = _series(captured, connections, duration_s) if captured else {}
    return Traffic(dict(analysis.metrics), connections, series_tables)


def combine_proxy_sides(server: Traffic, radio: Traffic) -> Traffic:
    """Combine the traffic of both sides of a proxy that keeps addresses and ports.

    Each transfer has two connections, distinguished by ``leg``. The n-th connection of a pair of
    addresses on one side belongs to the n-th on the other side. Transfer *k* has the connections
    2 *k* on the server side and 2 *k* + 1 on the radio side, and ``transfer`` is the former number.
    Metrics are those of the radio side, because only this side has all connections.
    """
    import polars as pl

    ends = ["client", "server"]
    nth = pl.int_range(pl.len()).over(ends).alias("nth")
    radio_side = radio.connections.sort("opened_s").with_columns(nth)
    server_side = server.connections.sort("opened_s").with_columns(nth)
    transfer = pl.int_range(pl.len(), dtype=pl.UInt32).alias("transfer") * 2
    transfers = radio_side.select(*ends, "nth", transfer)
    sides = []
    for leg, table, offset in (("server", server_side, 0), ("radio", radio_side, 1)):
        joined = table.join(transfers, on=[*ends, "nth"], how="left")
        number_in_run = pl.col("transfer") + offset
        sides.append(joined.with_columns(pl.lit(leg).alias("leg"), number_in_run.alias("number")).drop("nth"))
    connections = pl.concat(sides, how="diagonal_relaxed").filter(pl.col("number").is_not_null())
    numbers = [dict(side.select("connection", "number").iter_rows()) for side in sides]
    series = {
        name: pl.concat(
            [
                traffic.series[name].with_columns(
                    pl.col("connection").replace_strict(numbered, default=None, return_dtype=pl.UInt32)
                )
                for traffic, numbered in zip((server, radio), numbers, strict=True)
            ]
        )
        .filter(pl.col("connection").is_not_null())
        .sort("time_s", maintain_order=True)
        for name in radio.series
        if name in server.series
    }
    connections = connections.with_columns(pl.col("number").alias("connection")).drop("number")
    metrics: dict[str, float | None] = {**radio.metrics, "proxy_transfers": float(len(radio_side))}
    return Traffic(metrics, connections.sort("connection"), series)


def _ue_of(*ends: str) -> int | None:
    """Return the UE that has one of these addresses (with ports), or None."""
    for end in ends:
        address = ipaddress.ip_address(end.rpartition(":")[0].strip("[]"))
        for network in _UES:
            if address.version == network.version and address in network:
                number = int(address) - int(network.network_address) - _ADDRESSES_BEFORE_UES
                if number >= 0:
                    return number
    return None


def _in_run_time(table: pl.DataFrame, start: pl.Expr) -> pl.DataFrame:
    """Sort rows by time of the run, and number bytes as in a simulation, in which the SYN is byte 0."""
    import polars as pl

    numbers = [name for name in ("seq", "end", "ack", "left", "right") if name in table.columns]
    return table.with_columns(
        pl.col("time_s") + start,
        pl.col("connection").cast(pl.UInt32),
        *(pl.col(name) + 1 for name in numbers),
    ).sort("time_s", maintain_order=True)


def _series(
    tables: dict[str, pl.DataFrame], connections: pl.DataFrame, duration_s: float
) -> dict[str, pl.DataFrame]:
    return {
        **tables,
        "outstanding": _outstanding(tables["sent"], tables["acked"], connections),
        "goodput": _goodput(tables["acked"], connections, duration_s),
    }


def _outstanding(sent: pl.DataFrame, acked: pl.DataFrame, connections: pl.DataFrame) -> pl.DataFrame:
    """Return the unacknowledged payload in full segments, one row per change."""
    import polars as pl

    # The same segment size as in the metric: the size that both ends agreed on.
    segment = (pl.col("max_outstanding_bytes") / pl.col("max_outstanding_segments")).fill_nan(None)
    sizes = connections.select("connection", segment.alias("segment"))
    # Without the SYN, which is byte 0.
    ends = sent.filter(pl.col("seq") > 0).select("time_s", "connection", "end")
    both = pl.concat([ends, acked.select("time_s", "connection", "ack")], how="diagonal")
    so_far = [
        pl.col(name).forward_fill().cum_max().over("connection").fill_null(1) for name in ("end", "ack")
    ]
    segments = ((pl.col("end") - pl.col("ack")).clip(0) / pl.col("segment")).alias("outstanding_segments")
    changes = pl.col("outstanding_segments").ne_missing(pl.col("outstanding_segments").shift())
    return (
        both.sort("time_s", maintain_order=True)
        .with_columns(so_far)
        .join(sizes, on="connection", how="left", maintain_order="left")
        .filter(pl.col("segment").is_not_null())
        .select("time_s", "connection", segments)
        .filter(changes.over("connection"))
    )


def _goodput(acked: pl.DataFrame, connections: pl.DataFrame, duration_s: float) -> pl.DataFrame:
    """Return the rate of acknowledged payload per window while a connection is open.

    The last window may be shorter.
    """
    import polars as pl

    start_s = pl.col("window") * WINDOW_S
    length_s = pl.min_horizontal(pl.lit(WINDOW_S), duration_s - start_s)
    until_s = pl.min_horizontal(pl.col("closed_s").fill_null(duration_s), pl.lit(duration_s))
    first, last = ((time_s // WINDOW_S).cast(pl.Int64) for time_s in (pl.col("opened_s"), until_s))
    windows = connections.select("connection", pl.int_ranges(first, last + 1).alias("window"))
    so_far = pl.col("ack").cum_max().over("connection")
    # 1: the SYN.
    newly_acked = (pl.col("so_far") - pl.col("so_far").shift().over("connection").fill_null(1)).clip(0)
    sums = (
        acked.with_columns(so_far.alias("so_far"))
        .with_columns(
            newly_acked.alias("octets"), (pl.col("time_s") // WINDOW_S).cast(pl.Int64).alias("window")
        )
        .group_by("connection", "window")
        .agg(pl.col("octets").sum())
    )
    return (
        windows.explode("window")
        .join(sums, on=["connection", "window"], how="left")
        .sort("window", "connection")
        .filter(length_s > 0)
        .select(
            start_s.alias("time_s"),
            "connection",
            (pl.col("octets").fill_null(0) * 8 / 1e3 / length_s).alias("goodput_kbps"),
        )
    )


def whole_network(
    radio: dict[str, float | None],
    programs: dict[str, float | None],
    duration_s: float,
    *,
    switched: int,
    has_flows: bool,
) -> dict[str, float | None]:
    """Return the metrics of an emulation, combined from its network and the TCP of its programs.

    Metrics that depend on both are computed from both. Metrics of applications (pages, sessions)
    are known for simulated users only: without simulated users they are None.

    Parameters
    ----------
    radio : dict
        Metrics of the recorders, which include simulated flows if there are any (`has_flows`).
    programs : dict
        Metrics from the programs' packets.
    duration_s : float
        Duration of the emulation in seconds.
    switched : int
        Number of users that are switched between channels.
    has_flows : bool
        Whether users were simulated beside the programs.
    """
    simulated_bytes = (radio.get("goodput_kbps") or 0.0) * duration_s * 1e3 / 8 if has_flows else 0.0
    bytes_of_programs = programs.get("acknowledged_bytes")
    is_known = bytes_of_programs is not None or has_flows
    acknowledged_bytes = (bytes_of_programs or 0.0) + simulated_bytes if is_known else None
    occupied_kbps, energy_j = radio.get("cell_occupancy_kbps"), radio.get("energy_j")
    bytes_to_kbps = 8 / 1e3 / duration_s if duration_s else 0.0
    combined: dict[str, float | None] = {
        "cell_efficiency": _per(acknowledged_bytes, occupied_kbps, bytes_to_kbps),
        # `energy_j` is the mean over the switched users.
        "energy_j_per_mb": _per(energy_j, acknowledged_bytes, switched * 1e6),
        # None: unknown for the connections of programs.
        **dict.fromkeys(_METRICS_OF_CONNECTIONS),
    }
    if not has_flows:
        combined |= dict.fromkeys(_METRICS_OF_APPLICATIONS)
    return {**radio, **programs, **combined}


# Most of these relate connections to the UE's RRC states. Captured packets do not contain RRC
# states. The fairness indices of the recorders would cover only the simulated flows.
_METRICS_OF_CONNECTIONS = (
    "connections_with_dch_pct",
    "dch_allocations_per_connection",
    "dch_reuse_pct",
    "fach_goodput_kbps",
    "jain_fairness",
    "jain_fairness_active",
    "time_to_upswitch_s",
)

_METRICS_OF_APPLICATIONS = ("p95_page_time_s", "page_time_s", "pages", "session_time_s", "sessions")


def _per(part: float | None, whole: float | None, scale: float) -> float | None:
    """Return scale * part / whole; None if either is unknown or `whole` is 0."""
    return None if part is None or not whole else scale * part / whole
