"""One run as a page: content of the view in ``umts serve`` and of the file by ``umts report``.

`content` collects the numbers, and `html` writes them as one self-contained file. Metrics are shown
with the 95 % interval over the replications: the runs of the same scenario with other random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.analyse.statistics import Summary, summarise
from umtslab.budget import causes, has_budget, seconds
from umtslab.figure_kinds import KINDS, WATERFALL
from umtslab.headline_metrics import headline_names, scope_of
from umtslab.labels import cause_label, key_label, metric_label, value_label
from umtslab.metrics import definitions, units
from umtslab.numbers import number, with_interval
from umtslab.run import Run
from umtslab.why.timeline import recording_command

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAS_TIMELINE = "timeline_segments"
"""Name of a table. Exactly the runs with a recorded timeline have this table."""

_MAX_HEADLINES = 8
"""Maximum number of headline metrics."""

_MAX_CONNECTIONS = 200
"""Maximum number of rows in the table of connections."""

_MAX_PAGE_BYTES = 5_000_000
"""Maximum size of a page. Figures beyond this size are left out, and the page names them."""

_MAX_CHAINS = 100
"""Maximum number of stalls, and of other events, with a chain in the file."""

_MAX_SVG_BYTES = 600_000
"""Maximum size of a figure as SVG. Larger figures are included as PNG."""

_CONNECTION_COLUMNS = (
    ("download_time_s", "Download"),
    ("goodput_active_kbps", "Goodput while active"),
    ("mean_rtt_s", "Mean RTT"),
    ("tcp_retransmissions", "Retransmissions"),
    ("rto_count", "Timeouts"),
)
"""Columns of the table of connections: metric and heading."""


def content(run: Run, replications: Sequence[Run]) -> dict[str, Any]:
    """Collect the content of a run's page, except figures.

    Parameters
    ----------
    run : Run
        The run.
    replications : sequence of Run
        All runs of the same scenario and code, this one included.
    """
    return {
        "key": run.key,
        "scenario": run.scenario,
        "heading": run.heading,
        "seed": run.seed,
        "run": run.run,
        "replications": len(replications),
        "duration": f"{number(run.duration_s, 6)} s",
        "duration_s": run.duration_s,
        "is_emulated": run.is_emulated,
        "code": str(run.identity.code),
        "changes": [
            {"key": key, "label": key_label(key), "value": value_label(value)} for key, value in run.changes
        ],
        "command": run.command,
        "has_timeline": HAS_TIMELINE in run.series_kinds(),
        "timeline_command": recording_command(run),
        "headlines": list(headlines(run, replications)),
        "metrics": list(_all_metrics(run, replications)),
        "budget": budget(run, replications) if has_budget(run.metrics) else None,
        "series": run.series_kinds(),
        "figures": list(figures(run)),
        "captures": [
            {"name": path.name, "bytes": path.stat().st_size, "size": _size(path.stat().st_size)}
            for path in run.captures()
        ],
    }


# ── Metrics ─────────────────────────────────────────────────────────────────────────────────────────────────


def headlines(run: Run, replications: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """Yield the metrics to show first. Metrics that differ between replications precede the others."""
    names = headline_names(run.metrics)
    samples = {name: [other.metrics.get(name) for other in replications] for name in names}
    varying = [name for name in names if len({value for value in samples[name] if value is not None}) > 1]
    chosen = (varying or names)[:_MAX_HEADLINES]
    for name in chosen:
        yield headline(name, run.metrics.get(name), samples[name])


def headline(name: str, value: float | None, sample: Sequence[float | None]) -> dict[str, Any]:
    """Describe a metric with the interval over the replications, and the run's place among them.

    `value` is the metric of the shown run, and `sample` has the metric of each replication.
    """
    summary = summarise(sample)
    known = [measured for measured in sample if measured is not None]
    return {
        "name": name,
        "label": metric_label(name),
        "of": scope_of(name),
        "unit": units().get(name, ""),
        "value": value,
        "text": number(value),
        "summary": summary.as_dict(),
        "interval": with_interval(summary.mean, summary.ci95, summary.n) if summary.n > 1 else None,
        "place": _place(value, known, summary),
    }


def _place(value: float | None, known: Sequence[float], summary: Summary) -> dict[str, float] | None:
    """Return the positions of the run's value and of the interval's ends among the replications.

    Position 0 is the smallest of the values that are `known`, 1 the largest. None if all replications
    are equal, or if there is no interval.
    """
    if value is None or len(known) < 2 or summary.mean is None or summary.ci95 is None:
        return None
    low, high = min(known), max(known)
    if low == high:
        return None

    def position(number: float) -> float:
        """Return the position of a number, limited to 0 and 1."""
        return min(1.0, max(0.0, (number - low) / (high - low)))

    return {
        "run": position(value),
        "low": position(summary.mean - summary.ci95),
        "high": position(summary.mean + summary.ci95),
    }


def _all_metrics(run: Run, replications: Sequence[Run]) -> Iterator[dict[str, Any]]:
    meanings = {entry["name"]: entry["meaning"] for entry in definitions()}
    for name, value in run.metrics.items():
        if value is None or name.startswith("budget_"):
            continue
        summary = summarise(other.metrics.get(name) for other in replications)
        yield {
            "name": name,
            "label": metric_label(name),
            "unit": units().get(name, ""),
            "value": value,
            "text": number(value),
            "interval": with_interval(summary.mean, summary.ci95, summary.n) if summary.n > 1 else None,
            "meaning": meanings.get(name, ""),
        }


# ── Budget ──────────────────────────────────────────────────────────────────────────────────────────


def budget(run: Run, replications: Sequence[Run]) -> dict[str, Any]:
    """Return the time budget of a run: the time of all connections by cause, longest first.

    The interval of each cause is of its share over the replications.
    """
    return {
        "total": f"{number(run.metrics.get('budget_total_s'))} s",
        "parts": [
            part | {"interval": _share_interval(str(part["cause"]), replications)}
            for part in parts(run.metrics)
        ],
    }


def parts(metrics: Mapping[str, float | None]) -> list[dict[str, Any]]:
    """Return the causes that took time, longest first, from the metrics of a run or connection."""
    times = [(cause, metrics.get(seconds(cause)) or 0.0) for cause in causes()]
    shares = {cause: metrics.get(f"budget_{cause}_pct") or 0.0 for cause, _ in times}
    return [
        {
            "cause": cause,
            "label": cause_label(cause),
            "seconds": time_s,
            "text": number(time_s),
            "share_pct": shares[cause],
            "share_text": number(shares[cause], 3),
        }
        for cause, time_s in sorted(times, key=lambda pair: -pair[1])
        if time_s > 0
    ]


def _share_interval(cause: str, replications: Sequence[Run]) -> str | None:
    """Return the mean share of a cause over the runs, with its interval."""
    summary = summarise(run.metrics.get(f"budget_{cause}_pct") for run in replications)
    return with_interval(summary.mean, summary.ci95, summary.n) if summary.n > 1 else None


# ── Connections ─────────────────────────────────────────────────────────────────────────────────────


def connections(run: Run) -> dict[str, Any]:
    """Return a row per connection, the first `_MAX_CONNECTIONS`, and the count of all."""
    rows = run.connection_rows()
    return {
        "count": len(rows),
        "columns": [
            {"name": name, "label": label, "unit": units().get(name, "")}
            for name, label in _CONNECTION_COLUMNS
        ],
        "rows": [_connection(row) for row in rows[:_MAX_CONNECTIONS]],
    }


def _connection(row: Mapping[str, Any]) -> dict[str, Any]:
    total = row.get("budget_total_s")
    return {
        "connection": row["connection"],
        "ue": row.get("ue"),
        "opened": _seconds(row.get("opened_s")),
        "closed": _seconds(row.get("closed_s")),
        "values": [number(row.get(name)) for name, _ in _CONNECTION_COLUMNS],
        "budget": parts(row) if total else [],
        "total": None if total is None else f"{number(total)} s",
    }


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f} s"


# ── Figures ─────────────────────────────────────────────────────────────────────────────────────────


def figures(run: Run) -> Iterator[dict[str, str]]:
    """Yield the kinds of figures that the run's series allow: name and description."""
    recorded = set(run.series_kinds())
    if has_budget(run.metrics):
        yield {"name": "budget", "shows": "where the time of each connection went"}
    if WATERFALL in recorded and run.series_rows(WATERFALL):
        yield {"name": WATERFALL, "shows": "segments, PDUs and states of one connection"}
    for kind in KINDS.values():
        if recorded.issuperset(kind.series) and run.series_rows(kind.series[0]):
            yield {"name": kind.name, "shows": kind.shows}


def figure_svg(run: Run, name: str) -> bytes:
    """Draw one of `figures` as SVG.

    Raises
    ------
    umtslab.plot.UnknownFigure, umtslab.run.MissingSeries
        If the run has no such figure.
    """
    import io

    from umtslab.plot import printable

    drawn = io.BytesIO()
    figure = _figure(run, name)
    with printable():
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _figure(run: Run, name: str) -> Figure:
    from umtslab.plot import draw, draw_waterfall
    from umtslab.plot.run_budget import draw_run_budget

    if name == "budget":
        return draw_run_budget(run)
    return draw_waterfall(run) if name == WATERFALL else draw(run, name)


# ── The file ────────────────────────────────────────────────────────────────────────────────────────


def html(run: Run, replications: Sequence[Run]) -> str:
    """Return the page as one HTML file of at most `_MAX_PAGE_BYTES` bytes, which opens offline."""
    from umtslab.page import render
    from umtslab.page.causes import looks_of_file
    from umtslab.page.stalls import limited, stalls_of

    numbers = content(run, replications)
    stalls = stalls_of(run)
    if stalls is not None:
        stalls = limited(stalls, _MAX_CHAINS)
    without_figures = {**numbers, **looks_of_file(), "connections": connections(run), "stalls": stalls}
    size = len(render("run.html", **without_figures, pictures=[], left_out=[]).encode())
    pictures, left_out = [], []
    for figure in numbers["figures"]:
        picture = _picture(run, figure["name"])
        if size + len(picture) > _MAX_PAGE_BYTES:
            left_out.append(figure["name"])
            continue
        size += len(picture)
        pictures.append({**figure, "picture": picture})
    return render("run.html", **without_figures, pictures=pictures, left_out=left_out)


def _picture(run: Run, name: str) -> str:
    """Return a figure as a data URL: as SVG, or as PNG if the drawing is large."""
    import base64

    drawn = figure_svg(run, name)
    if len(drawn) <= _MAX_SVG_BYTES:
        return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode('ascii')}"
    from umtslab.page import data_url

    return data_url(_figure(run, name), in_pixels=True)


def _size(octets: int) -> str:
    return f"{number(octets / 1e6, 3)} MB" if octets >= 1e6 else f"{number(octets / 1e3, 3)} kB"
