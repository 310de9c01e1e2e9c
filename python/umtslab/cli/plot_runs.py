"""``umts plot`` for runs: figures of one or several results, of a time range, of selected users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.plot_kinds import BUDGET
from umtslab.figure_kinds import MAP
from umtslab.plot import WATERFALL, Look, View
from umtslab.plot.cdf import CDFS
from umtslab.plot.mean import MEANS
from umtslab.quantity import quantity
from umtslab.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class RunSelection:
    """Options that select a part of a run, as they were typed."""

    from_: str | None
    until: str | None
    connections: tuple[str, ...]
    ues: tuple[str, ...]
    mean: bool
    annotate: bool

    def given_options(self) -> list[str]:
        """Return the names of the options that were given."""
        options = {
            "--from": self.from_ is not None,
            "--until": self.until is not None,
            "--connection": bool(self.connections),
            "--ue": bool(self.ues),
            "--mean": self.mean,
            "--annotate": self.annotate,
        }
        return [name for name, is_given in options.items() if is_given]

    def view(self) -> View:
        """Return the selection with times and numbers parsed."""
        from_s, until_s = _seconds("--from", self.from_), _seconds("--until", self.until)
        if from_s is not None and until_s is not None and from_s >= until_s:
            raise UsageError(f"--from {self.from_} is not before --until {self.until}")
        return View(
            from_s=from_s,
            until_s=until_s,
            connections=_numbers("--connection", self.connections),
            ues=_numbers("--ue", self.ues),
        )


def draw_runs(
    results: Sequence[Sequence[Run]], arguments: Sequence[str], kind: str, selection: RunSelection, look: Look
) -> tuple[Figure, str]:
    """Draw a figure of one or several results. Returns the figure and its file name without suffix.

    Parameters
    ----------
    results : sequence of sequence of Run
        The runs of each result.
    arguments : sequence of str
        The argument that named each result on the command line.
    kind : str
        Kind of figure.
    selection : RunSelection
        Time range, connections and UEs to show.
    look : Look
        Appearance of the figure.
    """
    view = selection.view()
    # Of each result the first run with time series.
    runs = [next((run for run in result if run.series_kinds()), result[0]) for result in results]
    last_s = max(run.duration_s for run in runs)
    if view.from_s is not None and view.from_s >= last_s:
        raise UsageError(f"--from {selection.from_} is not before the end of the run at {last_s:g} s")
    name = "-".join([*dict.fromkeys(run.scenario for run in runs), kind])
    if selection.annotate:
        return _draw_annotated(runs, kind, view, look, mean=selection.mean), name
    return _draw_results(results, runs, arguments, kind, view, look, mean=selection.mean), name


def _draw_annotated(runs: Sequence[Run], kind: str, view: View, look: Look, *, mean: bool) -> Figure:
    from umtslab.plot import ANNOTATED, draw

    if mean or kind not in ANNOTATED:
        raise UsageError(f"--annotate applies to {', '.join(ANNOTATED)} without --mean")
    if len(runs) > 1:
        raise UsageError(f"--annotate applies to one result, not to {len(runs)}")
    return draw(runs[0], kind, view, look, annotated=True)


def _draw_results(
    results: Sequence[Sequence[Run]],
    runs: Sequence[Run],
    arguments: Sequence[str],
    kind: str,
    view: View,
    look: Look,
    *,
    mean: bool,
) -> Figure:
    """Draw one figure of one or several results. `runs` has the run to draw of each result."""
    from umtslab.plot import draw, named_apart

    if mean and kind not in MEANS:
        raise UsageError(f"--mean applies to {', '.join(MEANS)}")
    if kind == BUDGET and len(runs) > 1:
        return _draw_budgets(results, runs, arguments, view, look)
    if kind in (WATERFALL, BUDGET, MAP):
        if len(runs) > 1:
            raise UsageError(f"{kind} shows one result, not {len(runs)}")
        return _draw_single(runs[0], kind, view, look)
    named_runs = named_apart(runs, arguments) if len(runs) > 1 else {"": runs[0]}
    if kind not in CDFS and not mean:
        return draw(named_runs, kind, view, look)
    named_results = {
        name: [run for run in result if run.series_kinds()] or [drawn_run]
        for (name, drawn_run), result in zip(named_runs.items(), results, strict=True)
    }
    if mean:
        from umtslab.plot.mean import draw_mean

        return draw_mean(named_results, kind, view, look)
    from umtslab.plot.cdf import draw_cdf

    return draw_cdf(named_results, kind, view, look)


def _draw_budgets(
    results: Sequence[Sequence[Run]], runs: Sequence[Run], arguments: Sequence[str], view: View, look: Look
) -> Figure:
    """Draw the budgets of several results side by side."""
    from umtslab.plot import named_apart
    from umtslab.plot.budget_overlay import draw_budgets

    if not view.is_whole:
        raise UsageError("--from and --until apply to figures with a time axis, not to budget")
    if view.chooses:
        raise UsageError(f"--connection and --ue apply to the budget of one result, not of {len(runs)}")
    return draw_budgets(dict(zip(named_apart(runs, arguments), results, strict=True)), look)


def _draw_single(run: Run, kind: str, view: View, look: Look) -> Figure:
    if kind == BUDGET:
        from umtslab.plot.run_budget import draw_run_budget

        if view.from_s is not None or view.until_s is not None:
            raise UsageError("--from and --until apply to figures with a time axis, not to budget")
        return draw_run_budget(run, view, look)
    if kind == MAP:
        from umtslab.plot.map import draw_map

        if view.connections:
            raise UsageError("a map shows UEs: use --ue N instead of --connection")
        return draw_map(run, view, look)
    from umtslab.plot import draw_waterfall

    if len(view.connections) > 1 or view.ues:
        raise UsageError("the waterfall shows one connection: give --connection N once")
    connection = view.connections[0] if view.connections else None
    return draw_waterfall(run, connection, from_s=view.from_s, until_s=view.until_s, look=look)


def _seconds(option: str, text: str | None) -> float | None:
    """Read a time in seconds, with or without a unit."""
    if text is None:
        return None
    time = quantity(text)
    if time is None or not (time.kind == "time" or time.unit == ""):
        raise UsageError(
            f'{option} takes seconds, or a time with its unit, for example 5 or "500 ms", not {text!r}'
        )
    return time.base


def _numbers(option: str, arguments: Sequence[str]) -> tuple[int, ...]:
    """Read numbers from repeated options or lists with commas."""
    parts = [part.strip() for text in arguments for part in text.split(",")]
    for part in parts:
        if not part.isdigit():
            raise UsageError(f"{option} takes a number from 0, or several as in 3,7, not {part!r}")
    return tuple(int(part) for part in parts)
