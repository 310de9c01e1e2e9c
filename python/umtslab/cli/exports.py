"""Output of ``umts export``: tables, traces and Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import export as export_tables
from umtslab.cli.campaigns import opened_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.output_files import check_folder
from umtslab.cli.results import find_run, find_runs, read_results
from umtslab.cli.studies import find_study
from umtslab.columns_of_keys import with_numbers
from umtslab.export import to_csv
from umtslab.headline_metrics import headline_names
from umtslab.metrics import units, unknown_metric_text
from umtslab.overrides import changes_text
from umtslab.runs import Runs
from umtslab.store.reader import is_store
from umtslab.studies.optimise import Outcome

if TYPE_CHECKING:
    import polars as pl

    from umtslab.campaign.record import Record
    from umtslab.run import Run
    from umtslab.store import StoreReader
    from umtslab.studies.sensitivity import Findings

_DEFAULT_COLUMNS = 4
"""Number of metrics in a pivot table if the command names none."""


def trace(result: str, out: Path, ue: int, direction: str) -> str:
    """Return the arrivals of a user's bytes over the bearer in mahimahi's trace format."""
    run = find_run(result, out, "a trace is made from one")
    try:
        return export_tables.mahimahi_trace(run, ue, direction)
    except ValueError as error:
        raise UsageError(str(error)) from None


def perfetto_trace(result: str, out: Path, output: Path) -> int:
    """Write the timeline of a run as a trace for Perfetto. Returns the exit status."""
    from umtslab.atomic_files import output_file
    from umtslab.perfetto import write_trace
    from umtslab.why import MissingTimeline

    check_folder(output)
    run = find_run(result, out, "a trace is made from one")
    try:
        with output_file(output) as file:
            write_trace(run, file)
    except MissingTimeline as error:
        raise UsageError(str(error)) from None
    return 0


def dataset(result: str, output: Path | None) -> int:
    """Write a whole results folder as Parquet files. Returns the exit status."""
    if output is None:
        raise UsageError("--parquet writes several files: give a new folder with -o")
    if not is_store(Path(result)):
        raise UsageError(f"--parquet writes a whole results folder, and {result} is not a results folder")
    check_folder(output)
    with read_results(Path(result)) as store:
        try:
            files = store.write_dataset(output)
        except FileExistsError:
            raise UsageError(f"{output} already exists: give a new folder with -o") from None
    print(f"{len(files)} files in {output}: {', '.join(str(file.relative_to(output)) for file in files)}")
    return 0


def table_of(
    result: str,
    out: Path,
    table: str,
    metrics: Sequence[str],
    rows: str | None,
    columns: str | None,
    *,
    latex: bool,
) -> str:
    """Return a table of a result as text, CSV or LaTeX."""
    for name in metrics:
        if name not in units():
            raise UsageError(unknown_metric_text(name))
    if table != "pivot" and (rows or columns):
        raise UsageError("--rows and --columns apply to pivot tables: --table pivot")
    with opened_campaign(result, out) as campaign:
        if table == "pivot":
            if campaign is None:
                raise UsageError(f"a pivot table needs a campaign, and {out} has no campaign {result!r}")
            record, _ = campaign
            return _pivot(record, metrics, rows, columns, latex=latex)
        if campaign is not None:
            record, store = campaign
            runs: Sequence[Run] = [run for cell in record.cells for run in cell.runs]
            content = _of_campaign(record, store, table, _summary_metrics(metrics, runs, latex=latex))
            return _as_text(content, table, record.heading, keys=record.axes, latex=latex)
    if (study := find_study(result, out)) is not None:
        return _of_study(study, latex=latex)
    runs = find_runs(result, out)
    caption = runs[0].heading if len(runs) == 1 else _heading(runs)
    return _as_text(
        _of_runs(runs, table, _summary_metrics(metrics, runs, latex=latex)), table, caption, latex=latex
    )


def _summary_metrics(metrics: Sequence[str], runs: Sequence[Run], *, latex: bool) -> Sequence[str]:
    """Return the metrics of a summary.

    By default LaTeX has the headline metrics, and CSV has all, for which an empty sequence stands.
    """
    return metrics or (headline_names(*(run.metrics for run in runs)) if latex else ())


def _heading(runs: Sequence[Run]) -> str:
    """Return the caption of a table of runs: scenario, changes and number of runs."""
    changes = changes_text(Runs(runs).changes)
    return ", ".join(filter(None, [runs[0].scenario, f"{len(runs)} runs", changes]))


def _as_text(
    content: pl.DataFrame, table: str, caption: str, *, latex: bool, keys: Iterable[str] = ()
) -> str:
    """Return a table as LaTeX, or as CSV, in which the quantities of the columns `keys` are numbers."""
    if not latex:
        return to_csv(with_numbers(content, keys))
    from umtslab.latex import summary_to_latex, to_latex

    return (summary_to_latex if table == "summary" else to_latex)(content, caption=caption)


def _pivot(
    record: Record, metrics: Sequence[str], rows: str | None, columns: str | None, *, latex: bool
) -> str:
    """Return a table of means with a row and a column for each value of two keys."""
    from umtslab.campaign.pivot import pivots

    if rows is None:
        raise UsageError(f"a pivot table needs --rows KEY: one of {', '.join(record.axes)}")
    headline = headline_names(*(run.metrics for cell in record.cells for run in cell.runs))
    chosen = metrics or headline[: _DEFAULT_COLUMNS if columns is None else 1]
    tables = pivots(record, rows, columns, chosen)
    if latex:
        return "\n".join(table.latex() for table in tables)
    if len(tables) > 1:
        raise UsageError("a CSV file holds one table: give one --metric")
    return to_csv(with_numbers(tables[0].frame(), [rows]))


def _of_study(study: Outcome | Findings, *, latex: bool) -> str:
    """Write the trials of an optimisation or the effects of a sensitivity study."""
    from umtslab.studies.tables import effects_table, trials_table

    content = trials_table(study) if isinstance(study, Outcome) else effects_table(study)
    keys = [parameter.key for parameter in study.study.frame.parameters]
    caption = study.study.frame.title or study.study.frame.name
    return _as_text(content, "runs", caption, keys=keys, latex=latex)


def _of_runs(runs: Sequence[Run], table: str, metrics: Sequence[str]) -> pl.DataFrame:
    """Return a table of runs."""
    if table == "summary":
        return export_tables.summary_table(runs, metrics)
    if table == "connections":
        return export_tables.connections_table(runs)
    return export_tables.runs_table(runs)


def _of_campaign(record: Record, store: StoreReader, table: str, metrics: Sequence[str]) -> pl.DataFrame:
    """Return a table of a campaign."""
    from umtslab.campaign import tables

    if table == "summary":
        return tables.campaign_summary(record, metrics)
    if table == "connections":
        return tables.campaign_connections(record)
    return tables.campaign_runs(record, store)
