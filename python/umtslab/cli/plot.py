"""``umts plot``: a figure of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULT, add_flag, add_out, add_output, add_value
from umtslab.cli.parser import whole_number
from umtslab.plot import KINDS, WATERFALL

if TYPE_CHECKING:
    from umtslab.campaign.record import Record
    from umtslab.cli.parser import Parser
    from umtslab.run import Run

BUDGET = "budget"


def options(parser: Parser) -> None:
    """What can be typed behind ``umts plot``."""
    parser.explain(
        f"{RESULT} Of several runs the first that recorded series is drawn. Or a campaign there.",
        f"Kinds of a run: {', '.join((*KINDS, WATERFALL))}; of a campaign, a metric or {BUDGET}.",
    )
    parser.add_argument("result", metavar="RESULT", help="What to draw from.")
    parser.add_argument("kind", metavar="KIND", help=f"What to draw; of a campaign, a metric or {BUDGET}.")
    campaign = parser.add_argument_group("of a campaign")
    campaign.add_argument(
        "--over",
        "--x",
        metavar="KEY",
        help="The parameter on the horizontal axis (default: the first that is a number).",
    )
    add_flag(campaign, "--log", "A logarithmic horizontal axis.")
    run = parser.add_argument_group("of a run")
    run.add_argument(
        "--connection",
        type=whole_number,
        metavar="N",
        help="Of a waterfall: the connection's number (default: the one that the run recorded).",
    )
    run.add_argument(
        "--from",
        dest="from_",
        metavar="TIME",
        help='Where the time axis begins, as in 5 (seconds) or "500 ms".',
    )
    add_value(run, "--until", "TIME", "Where it ends.")
    files = parser.add_argument_group("files")
    add_output(files, "PNG, SVG or PDF, by its suffix (default: a PNG in the folder figures of the results).")
    add_out(files, "Where results are looked up by name")


def plot(
    result: str,
    kind: str,
    *,
    over: str | None,
    log: bool,
    connection: int | None,
    from_: str | None,
    until: str | None,
    output: Path | None,
    out: Path,
) -> int:
    """Draw a figure of a run, or a metric of a campaign; arguments as `options` declares them."""
    from umtslab.cli.campaigns import find_campaign
    from umtslab.cli.output_files import check_figure_file
    from umtslab.cli.results import find_runs

    if output is not None:
        check_figure_file(output)
    if (record := find_campaign(result, out)) is not None:
        if connection is not None or from_ is not None or until is not None:
            raise UsageError(f"--connection, --from and --until are for runs, and {result} is a campaign")
        path = output or _in_figures(out, f"{record.name}-{kind}.png")
        return _plot_campaign(record, kind, over, path, log=log)
    if kind != WATERFALL and kind not in KINDS:
        raise UsageError(f"there is no figure {kind!r}; there are {', '.join(KINDS)}, {WATERFALL}")
    if over is not None or log:
        raise UsageError(f"--over and --log are for campaigns, and {out} has no campaign {result!r}")
    if connection is not None and kind != WATERFALL:
        raise UsageError(f"--connection is for {WATERFALL}")
    from_s, until_s = _seconds("--from", from_), _seconds("--until", until)
    if from_s is not None and until_s is not None and from_s >= until_s:
        raise UsageError(f"--from {from_} is not before --until {until}")
    runs = find_runs(result, out)
    run = next((run for run in runs if run.series_kinds()), runs[0])

    if from_s is not None and from_s >= run.duration_s:
        raise UsageError(f"--from {from_} is not before the end of the run, which took {run.duration_s:g} s")

    from umtslab.plot import View, draw, draw_waterfall, save

    if kind == WATERFALL:
        figure = draw_waterfall(run, connection, from_s=from_s, until_s=until_s)
    else:
        figure = draw(run, kind, View(from_s, until_s))
    path = output or _default_path(run, kind)
    save(figure, path)
    print(path)
    return 0


def _seconds(option: str, word: str | None) -> float | None:
    """A time as it is typed, in seconds."""
    if word is None:
        return None
    from umtslab.quantity import quantity

    found = quantity(word)
    if found is None or not (found.kind == "time" or found.unit == ""):
        raise UsageError(
            f'{option} takes seconds, or a time with its unit, as in 5 or "500 ms", not {word!r}'
        )
    return found.base


def _default_path(run: Run, kind: str) -> Path:
    """Beside the runs, not in the run's folder, which holds what the run wrote and nothing else."""
    name = f"{run.scenario}-{kind}.png"
    if run.folder is None or run.folder.parent.name != "runs":
        return Path(name)
    return _in_figures(run.folder.parent.parent, name)


def _in_figures(store: Path, name: str) -> Path:
    figures = store / "figures"
    figures.mkdir(exist_ok=True)
    return figures / name


def _plot_campaign(record: Record, metric: str, over: str | None, path: Path, *, log: bool) -> int:
    from umtslab.metrics import units, unknown
    from umtslab.plot import save

    if metric == BUDGET:
        from umtslab.plot.budget import draw_budget

        if log:
            raise UsageError("--log is for metrics; bars stand side by side")
        save(draw_budget(record, over), path)
    elif metric in units():
        from umtslab.plot.campaign import draw_campaign

        save(draw_campaign(record, metric, over, log=log), path)
    else:
        raise UsageError(f"of a campaign, {BUDGET} or a metric is drawn, and {unknown(metric)}")
    print(path)
    return 0
