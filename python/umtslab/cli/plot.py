"""``umts plot``: a figure of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from umtslab.cli.failures import UsageError
from umtslab.cli.results import find_runs
from umtslab.plot import FORMATS, KINDS
from umtslab.run import Run


def plot(
    result: str,
    kind: str,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    out: Path = Path("results"),
) -> int:
    """Draw a figure of a run that was recorded with `--series`.

    Kinds: timeseq, cwnd, rtt, outstanding, goodput, throughput, rlc_buffer.

    Parameters
    ----------
    result
        A run folder; a results folder (its latest result); or a run, result or scenario in `--out`. Of
        several runs the first that recorded series is drawn.
    kind
        What to draw.
    output
        PNG, SVG or PDF, by its suffix (default: a PNG in the folder figures of the results).
    out
        Where results are looked up by name.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no figure {kind!r}; there are {', '.join(KINDS)}")
    if output is not None and output.suffix not in FORMATS:
        raise UsageError(f"{output}: the suffix says the format, one of {', '.join(FORMATS)}")
    runs = find_runs(result, out)
    run = next((run for run in runs if run.series_kinds()), runs[0])

    from umtslab.plot import draw, save

    figure = draw(run, kind)
    path = output or _default_path(run, kind)
    save(figure, path)
    print(path)
    return 0


def _default_path(run: Run, kind: str) -> Path:
    """Beside the runs, not in the run's folder, which holds what the run wrote and nothing else."""
    name = f"{run.scenario}-{kind}.png"
    if run.folder is None or run.folder.parent.name != "runs":
        return Path(name)
    figures = run.folder.parent.parent / "figures"
    figures.mkdir(exist_ok=True)
    return figures / name
