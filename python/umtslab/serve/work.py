"""The functions that `umts serve` runs as jobs: runs, figures, reports, analyses of captures.

Each job runs in a process of its own, forked from a small one (`jobs`). Libraries are therefore
imported in the functions. The last argument of each function, `report`, is the callback for progress:
a number from 0 to 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from umtslab.serve.jobs import Report
from umtslab.serve.scenarios import Request, load

_MAX_CONNECTIONS = 200
"""Maximum number of rows in the table of a capture's connections."""

_MAX_POINTS = 4000
"""Maximum number of points of a curve: four for each of 1,000 pixel columns."""


LADDER_PAGE = 150
"""Packets on a page of a ladder. Their answer has less than 64 kB."""

_MAX_CSV = 200_000
"""Maximum number of packets in a table to download."""


class KeptRuns(NamedTuple):
    """Numbers and seed of the runs to keep. Series and time budget are always recorded."""

    runs: int
    """Number of runs."""
    first_run: int
    seed: int | None
    """None: the seed of the scenario."""
    captures: bool
    """Whether to record captures too."""
    timeline: bool
    """Whether to record the timeline too."""


def keep_runs(
    store: Path,
    folder: Path,
    request: Request,
    kept: KeptRuns,
    allow_code: bool,
    report: Report,
) -> str:
    """Run a scenario with series and budget, keep the runs in the store, and return the key of the first."""
    from umtslab.simulation import simulate
    from umtslab.store import open_store

    overrides = (*request.overrides, ("measure.budget", "true"))
    if kept.timeline:
        overrides = (*overrides, ("measure.timeline", "true"))
    scenario = load(folder, Request(request.name, request.text, overrides), allow_code=allow_code)
    finished_share: dict[int, float] = {}

    def watch(task: Any, share: float) -> None:
        """Report the mean of the finished shares of all runs."""
        finished_share[task.run] = share
        report(sum(finished_share.values()) / kept.runs)

    with open_store(store) as opened:
        results = simulate(
            scenario,
            runs=kept.runs,
            first_run=kept.first_run,
            seed=kept.seed,
            store=opened,
            series=True,
            pcap=kept.captures,
            watch=watch,
        )
    return results[0].key


class WrongCapture(ValueError):
    """A file is not a capture. The message names the file as the visitor named it."""


def check(folder: Path, request: Request, allow_code: bool, report: Report) -> list[str]:
    """Return the mistakes in a scenario, one sentence each."""
    from umtslab._core import ScenarioError
    from umtslab.scenario import CodeNotAllowed
    from umtslab.serve.files import NoSuchFile
    from umtslab.serve.scenarios import OutsideFolder, SyntaxMistake
    from umtslab.serve.try_it import mistakes

    try:
        load(folder, request, allow_code=allow_code)
    except (ScenarioError, CodeNotAllowed, NoSuchFile, OutsideFolder, SyntaxMistake) as error:
        return [str(mistake["message"]) for mistake in mistakes(error, folder, request)]
    return []


def scenario_form(folder: Path, name: str, report: Report) -> dict[str, Any]:
    """Return a scenario as a form. The result is a `models.ScenarioForm`."""
    from dataclasses import asdict

    from umtslab.serve.form import form
    from umtslab.serve.scenarios import path_of, text_of

    text = text_of(path_of(folder, name))
    # Loading executes no Python classes that the scenario names, so they are allowed here.
    loaded = load(folder, Request(name, text=None, overrides=()), allow_code=True)
    return {
        "name": name,
        "title": loaded.title or name,
        "source": loaded.source,
        "duration_s": loaded.duration_s,
        "text": text,
        "keys": [asdict(key) for key in form(loaded)],
    }


def figure(store: Path, key: str, name: str, report: Report) -> bytes:
    """Draw a figure of a run."""
    from umtslab.page.run import figure_svg

    run, _ = _run_and_replications(store, key)
    return figure_svg(run, name)


def run_report(store: Path, key: str, report: Report) -> str:
    """Return a run's page as one file."""
    from umtslab.page.run import html

    return html(*_run_and_replications(store, key))


def stalls(store: Path, key: str, report: Report) -> dict[str, Any] | None:
    """Return stalls, timeouts and retransmissions with their chains. None without a timeline."""
    from umtslab.page.stalls import stalls_of

    run, _ = _run_and_replications(store, key)
    return stalls_of(run)


def _run_and_replications(store: Path, key: str) -> tuple[Any, list[Any]]:
    """Return a run, and all runs of the same result."""
    from umtslab.store import RunNotFound, read_store

    with read_store(store) as reader:
        runs = reader.of_keys([key])
        if key not in runs:
            raise RunNotFound("the store has no such run")
        run = runs[key]
        return run, reader.runs(run.identity.result)


def analysis(path: Path, shown_name: str, report: Report) -> dict[str, Any]:
    """Analyse a capture, as ``umts analyse`` does. The result is a `models.Capture`."""
    from umtslab._core import CaptureReadError, capture_metric_definitions
    from umtslab.captures import HEADLINE, analyse_captures, units
    from umtslab.labels import metric_label
    from umtslab.numbers import number

    try:
        [capture] = analyse_captures(path, progress=report)
    except CaptureReadError as error:
        raise WrongCapture(str(error).replace(str(path), shown_name)) from None
    meanings = {entry["name"]: entry["meaning"] for entry in capture_metric_definitions()}
    rows = capture.connections().head(_MAX_CONNECTIONS).to_dicts()
    return {
        "name": shown_name,
        "duration": f"{number(capture.duration_s, 6)} s",
        "warnings": capture.warnings,
        "connections": capture.connection_count,
        "metrics": [
            {
                "name": name,
                "label": metric_label(name),
                "is_first": name in HEADLINE,
                "meaning": meanings.get(name, ""),
                "unit": _unit(units(), name),
                "value": value,
                "text": number(value),
            }
            for name, value in capture.metrics.items()
            if value is not None
        ],
        "rows": [
            {
                "connection": row["connection"],
                "client": f"{row.get('client', '')}",
                "server": f"{row.get('server', '')}",
                "position": f"{row.get('position', '')}",
                "values": [number(row.get(name)) for name, _ in CAPTURE_COLUMNS],
            }
            for row in rows
        ],
        "columns": [
            {"name": name, "label": label, "unit": _unit(units(), name)} for name, label in CAPTURE_COLUMNS
        ],
    }


def _unit(units: dict[str, str], name: str) -> str:
    """Return the unit of a metric, empty for counts and ratios. Their unit in the list of metrics is 1."""
    return units.get(name, "").removeprefix("1")


CAPTURE_COLUMNS = (
    ("payload_bytes", "Payload"),
    ("goodput_active_kbps", "Goodput while active"),
    ("mean_rtt_s", "Mean RTT"),
    ("tcp_retransmissions", "Retransmissions"),
    ("rto_count", "Timeouts"),
)
"""Columns of the table of a capture's connections: metric and heading."""


def connection_graphs(path: Path, number: int, report: Report) -> dict[str, Any]:
    """Return the graphs of one connection, as `models.Graphs`."""
    import polars as pl

    from umtslab.analyse.acknowledgments import in_flight, round_trips
    from umtslab.analyse.rates import bin_length, sent_per_window
    from umtslab.captures import analyse_captures

    [capture] = analyse_captures(path, time_sequence=number, connection=number)
    sent, acked = capture.series("sent"), capture.series("acked")
    # `sent_per_window` leaves out the segment with number 0, which is the SYN in tables of runs. In
    # tables of captures the first byte of data has number 0, so the numbers are shifted by 1.
    numbered = sent.with_columns(pl.col("seq") + 1, pl.col("end") + 1)
    window_s = bin_length(sent_per_window(numbered), "throughput_kbps", numbered)
    rates = sent_per_window(numbered, window_s=window_s)
    row = capture.connections().filter(pl.col("connection") == number).to_dicts()
    window = capture.series("window")
    # The next two compare numbers of `sent` with numbers of `acked`. Both tables count from 0, so
    # they need no shift.
    times, outstanding = round_trips(sent, acked), in_flight(sent, acked)
    return {
        "connection": number,
        "sent": _segments(sent),
        "acked": _curve(acked["time_s"].to_list(), acked["ack"].to_list()),
        "throughput": _curve(rates["time_s"].to_list(), rates["throughput_kbps"].to_list()),
        "window": f"{window_s:g} s",
        "round_trips": _curve(times["time_s"].to_list(), times["rtt_s"].to_list()),
        "in_flight": _curve(outstanding["time_s"].to_list(), outstanding["octets"].to_list()),
        **_receive_window(window, acked, is_scaled=bool(row) and row[0]["window_scale"] is not None),
    }


def _receive_window(window: Any, acked: Any, *, is_scaled: bool) -> dict[str, Any]:
    """Return the curve of the receive window. It is empty if the scale is unknown."""
    if not is_scaled:
        return {
            "receive_window": {"time_s": [], "value": []},
            "receive_window_note": (
                "The receive window is not shown: its scale is unknown, because the capture has no SYN of "
                "one end or of both."
            ),
        }
    times, octets = window["time_s"].to_list(), window["window_octets"].to_list()
    # The table has the changes. The last window is advertised up to the last acknowledgment.
    last_s = acked["time_s"].max()
    if times and last_s is not None and last_s > times[-1]:
        times, octets = [*times, last_s], [*octets, octets[-1]]
    return {"receive_window": _curve(times, octets), "receive_window_note": ""}


def ladder(
    path: Path, shown_name: str, number: int, first: int, from_s: float | None, report: Report
) -> dict[str, Any] | None:
    """Return a page of the packets of a connection, as `models.Ladder`. None if there is no connection.

    The page begins with packet `first` or, if `from_s` is given, with the first packet at that time or
    later.
    """
    from umtslab.captures import PacketRange
    from umtslab.ladder import HUES, KINDS, OTHER_HUE, UNSCALED, capture_point, captured, packets

    found = _listed(path, PacketRange(number, first, from_s, LADDER_PAGE))
    if found is None:
        return None
    capture, row = found
    counts, listed = capture.packet_counts, packets(capture.packets())
    count = counts["packets"] or 0
    last_page = max(1, count - LADDER_PAGE + 1)
    begin = listed[0].packet if listed else count + 1
    is_unscaled = row["window_scale"] is None
    return {
        "connection": number,
        "client": row["client"],
        "server": row["server"],
        "captured_at": capture_point(row),
        "notes": [captured(row), *([UNSCALED] if is_unscaled else [])],
        "kinds": [
            *({"hue": HUES[kind], "label": label} for kind, label in KINDS.items()),
            {"hue": OTHER_HUE, "label": "other"},
        ],
        "packets": count,
        "retransmissions": counts["retransmissions"],
        "duplicate_acks": counts["duplicate_acks"],
        "previous": max(1, begin - LADDER_PAGE) if begin > 1 and count else None,
        "next": begin + LADDER_PAGE if begin + LADDER_PAGE <= count else None,
        "last": last_page,
        "retransmission_before": counts["retransmission_before"],
        "retransmission_after": counts["retransmission_after"],
        "rows": [
            {
                "packet": packet.packet,
                "time": f"{packet.time_s:.6f}",
                "since": f"{packet.time_s - before.time_s:.6f}" if before is not None else "",
                "is_from_client": packet.sender == "client",
                "kind": packet.kind,
                "hue": packet.hue,
                "label": packet.label,
                "flags": packet.flags,
                "seq": str(packet.seq),
                "payload": str(packet.payload),
                "ack": "" if packet.ack is None else str(packet.ack),
                "window": packet.window,
                "note": packet.note,
            }
            for before, packet in zip([None, *listed], listed, strict=False)
        ],
        "command": _ladder_command(shown_name, number, begin, listed[-1].packet if listed else begin),
    }


def _ladder_command(shown_name: str, number: int, first: int, last: int) -> str:
    """Return the command that draws the same packets."""
    import shlex

    words = ["umts", "analyse", shown_name, "--connection", str(number)]
    return shlex.join([*words, "--ladder", "ladder.svg", "--packets", f"{first}-{last}"])


def ladder_csv(path: Path, number: int, report: Report) -> str | None:
    """Return the packets of a connection as a table. None if there is no such connection."""
    from umtslab.captures import PacketRange
    from umtslab.ladder import csv

    found = _listed(path, PacketRange(number, most=_MAX_CSV))
    return None if found is None else csv(found[0].packets())


def ladder_svg(path: Path, number: int, first: int, report: Report) -> bytes | None:
    """Draw a page of the packets of a connection. None if there is no such connection."""
    import io

    from umtslab.captures import PacketRange, draw_ladder
    from umtslab.plot import printable

    found = _listed(path, PacketRange(number, first, most=LADDER_PAGE))
    if found is None:
        return None
    drawn = io.BytesIO()
    figure = draw_ladder(found[0], number)
    with printable():
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _listed(path: Path, wanted: Any) -> tuple[Any, dict[str, Any]] | None:
    """Return an analysis with packets, and the row of their connection. None if it does not exist."""
    import polars as pl

    from umtslab.captures import analyse_captures

    [capture] = analyse_captures(path, packets=wanted, connection=wanted.connection)
    rows = capture.connections().filter(pl.col("connection") == wanted.connection).to_dicts()
    return (capture, rows[0]) if rows else None


def _segments(sent: Any) -> dict[str, Any]:
    """Return the new segments as a thinned curve, and the first `_MAX_POINTS` retransmissions."""
    import polars as pl

    new, sent_again = sent.filter(~pl.col("retransmission")), sent.filter(pl.col("retransmission"))
    return {
        "new": _curve(new["time_s"].to_list(), new["end"].to_list()),
        "again": {
            "time_s": sent_again["time_s"].head(_MAX_POINTS).to_list(),
            "value": sent_again["end"].head(_MAX_POINTS).to_list(),
        },
        "segments": len(sent),
        "retransmissions": len(sent_again),
    }


def _curve(times: list[float], values: list[float]) -> dict[str, list[float]]:
    """Thin a curve to the first, smallest, largest and last value of each of 1,000 pixel columns.

    This is the algorithm M4: a line through these points looks the same as a line through all points.
    """
    if len(times) <= _MAX_POINTS:
        return {"time_s": times, "value": values}
    import numpy as np
    from tsdownsample import M4Downsampler

    x, y = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    kept_indices = M4Downsampler().downsample(  # type: ignore[no-untyped-call]
        x, y, n_out=_MAX_POINTS
    )
    return {"time_s": x[kept_indices].tolist(), "value": y[kept_indices].tolist()}
