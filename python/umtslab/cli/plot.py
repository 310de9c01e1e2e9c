"""``umts plot``: figures of runs, campaigns and studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.look import add_look, chosen_look
from umtslab.cli.options import RESULT, add_flag, add_out, add_output, add_value, add_values
from umtslab.cli.plot_kinds import ANNOTATED, BUDGET, RUN_KINDS, STUDY_KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from umtslab.cli.parser import Parser
    from umtslab.cli.plot_runs import RunSelection
    from umtslab.plot import Look


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts plot``."""
    parser.explain(
        f"{RESULT} It may also be a campaign or a study there. Several results share one figure, "
        "labelled by the differences of their scenarios; so do several campaigns. If a result has "
        "several runs, the first run with time series is drawn.",
        f"Kinds for runs: {', '.join(RUN_KINDS)}. For campaigns: a metric or {BUDGET}. For studies: "
        f"{', '.join(STUDY_KINDS)}.",
    )
    parser.add_argument(
        "results",
        metavar="RESULT",
        nargs="+",
        help="The result to draw; or several results, or several campaigns.",
    )
    parser.add_argument("kind", metavar="KIND", help="Kind of figure, or a metric.")
    run = parser.add_argument_group("figures of runs")
    run.add_argument(
        "--from", dest="from_", metavar="TIME", help='Start of the time axis, for example 5 or "500 ms".'
    )
    add_value(run, "--until", "TIME", "End of the time axis.")
    add_values(
        run,
        "--connection",
        "N",
        "Number of a connection to draw in colour, the others in grey; may be repeated.",
    )
    add_values(run, "--ue", "N", "Number of a UE to draw in colour, with its connections; may be repeated.")
    add_flag(run, "--mean", "Draw the mean over the runs of each result with its 95 % band.")
    add_flag(
        run,
        "--annotate",
        "Mark slow start, fast retransmits, timeouts, recovery and channel switches of one connection "
        f"({', '.join(ANNOTATED)}).",
    )
    campaign = parser.add_argument_group("figures of campaigns")
    campaign.add_argument(
        "--over",
        "--x",
        metavar="KEY",
        help="Parameter on the horizontal axis (default: the first numeric one).",
    )
    add_value(
        campaign,
        "--against",
        "KEY",
        "Draw a map with this parameter on the vertical axis and the metric in the cells.",
    )
    add_look(parser.add_argument_group("file and appearance"))
    files = parser.add_argument_group("files")
    add_output(
        files,
        "PNG, SVG or PDF, by its suffix (default: a PNG in the subfolder figures of the results folder).",
    )
    add_out(files, "Results folder in which names are looked up")


def plot(
    results: Sequence[str],
    kind: str,
    *,
    from_: str | None,
    until: str | None,
    connection: Sequence[str],
    ue: Sequence[str],
    mean: bool,
    annotate: bool,
    over: str | None,
    against: str | None,
    log: bool,
    log_y: bool,
    width: str | None,
    title: str | None,
    xlabel: str | None,
    ylabel: str | None,
    grey: bool,
    font: str | None,
    output: Path | None,
    out: Path,
) -> int:
    """Draw a figure. `options` declares the arguments."""
    from umtslab.cli.output_files import check_figure_file
    from umtslab.cli.plot_runs import RunSelection
    from umtslab.plot import NobodyChosen, UnknownFont, save

    if output is not None:
        check_figure_file(output)
    look = chosen_look(width, title, xlabel, ylabel, font, grey=grey, log_x=log, log_y=log_y)
    selection = RunSelection(
        from_=from_,
        until=until,
        connections=tuple(connection),
        ues=tuple(ue),
        mean=mean,
        annotate=annotate,
    )
    axes = {"--over": over, "--against": against}
    try:
        figure, path = _draw_results(results, kind, selection, axes, look, out)
    except (NobodyChosen, UnknownFont) as error:
        raise UsageError(str(error)) from None
    if output is None:
        path.parent.mkdir(exist_ok=True)
    save(figure, output or path)
    print(output or path)
    return 0


def _draw_results(
    results: Sequence[str],
    kind: str,
    selection: RunSelection,
    axes: Mapping[str, str | None],
    look: Look,
    out: Path,
) -> tuple[Figure, Path]:
    """Return the figure of the results, and the file in which it is saved by default.

    `axes` has the values of ``--over`` and ``--against``.
    """
    from umtslab.campaign.file import shortened
    from umtslab.cli.plot_campaigns import draw_campaigns
    from umtslab.cli.plot_results import find_results
    from umtslab.cli.plot_runs import draw_runs
    from umtslab.cli.plot_study import draw_study

    named = find_results(results, kind, out)
    campaign_options = [name for name, value in axes.items() if value is not None]
    if named.campaigns:
        _refuse(selection.given_options(), next(iter(named.campaigns)), "is a campaign", "runs")
        figure = draw_campaigns(named.campaigns, kind, axes["--over"], axes["--against"], look)
        names = "-".join(dict.fromkeys(record.name for record in named.campaigns.values()))
        return figure, _in_figures(out, f"{shortened(names, names)}-{kind}.png")
    if named.studies:
        [(name, study)] = named.studies.items()
        _refuse([*selection.given_options(), *campaign_options], name, "is a study", "others")
        return draw_study(study, kind, look), _in_figures(out, f"{study.study.frame.name}-{kind}.png")
    first = next(iter(named.runs))
    _refuse(campaign_options, first, "contains runs", "campaigns")
    if kind not in RUN_KINDS:
        raise UsageError(_no_figure_of_runs(kind, first))
    runs = list(named.runs.values())
    figure, name = draw_runs(runs, list(named.runs), kind, selection, look)
    return figure, _default_path(runs[0][0].folder, f"{name}.png")


def _no_figure_of_runs(kind: str, result: str) -> str:
    """Return the error text for a kind that is not a figure of runs."""
    from umtslab.cli.mistyped import suggestion
    from umtslab.metrics import units

    if kind in units():
        run_kinds = f"figures of runs are {', '.join(RUN_KINDS)}"
        return f"{kind} is a metric, which is drawn for campaigns, and {result} contains runs; {run_kinds}"
    if kind in STUDY_KINDS:
        return f"{kind} is a figure of studies, and {result} contains runs"
    return f"there is no figure {kind!r}; {suggestion(kind, RUN_KINDS)}"


def _refuse(options: Sequence[str], result: str, kind: str, owners: str) -> None:
    """Refuse options that do not apply to a result.

    `kind` says what the result is ("is a campaign"), `owners` to which results the options apply.
    """
    if options:
        verb = "is" if len(options) == 1 else "are"
        raise UsageError(f"{', '.join(options)} {verb} for {owners}, and {result} {kind}")


def _default_path(folder: Path | None, name: str) -> Path:
    """Return the default file of a figure of runs.

    Figures are kept outside the run folders, which contain only files that the run wrote.
    """
    if folder is None or folder.parent.name != "runs":
        return Path(name)
    return _in_figures(folder.parent.parent, name)


def _in_figures(store: Path, name: str) -> Path:
    return store / "figures" / name
