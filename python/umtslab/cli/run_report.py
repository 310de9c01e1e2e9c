"""What ``umts run`` prints: tables, or a JSON object."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import summarise_metrics
from umtslab.figure_kinds import proposed_kind
from umtslab.overrides import changes_text, source_text
from umtslab.run import Run

if TYPE_CHECKING:
    from umtslab.scenario import Scenario
    from umtslab.store import Store

_MAX_CONNECTIONS = 20
"""Maximum number of connections that are printed one by one."""


def print_json(scenario: str, runs: Sequence[Run]) -> None:
    """Print one JSON object and nothing else."""
    from umtslab.export import runs_object

    print(json.dumps(runs_object(scenario, runs), indent=1, allow_nan=False))


def print_tables(
    scenario: Scenario, runs: Sequence[Run], store: Store, *, show_all: bool, quiet: bool
) -> None:
    """Print metrics, time budget, up to 20 connections, and where the files are."""
    from umtslab.budget import has_budget
    from umtslab.tables import connections_table, metrics_table
    from umtslab.terminal import show_budget, timeouts_table, transfers_table
    from umtslab.text_table import heading, show

    heading(scenario.title or scenario.name)
    print(f"{_heading(scenario, runs)}\n")
    summaries = summarise_metrics([run.metrics for run in runs])
    if (metrics := metrics_table(summaries, show_all=show_all)).rows:
        show(metrics)
    else:
        print("none of the headline metrics has a value; --all prints every metric that has one")
    if has_budget(summaries):
        print()
        show_budget(summaries)
        if (timeouts := timeouts_table(summaries)) is not None:
            print()
            show(timeouts)
        if (transfers := transfers_table(summaries)) is not None:
            print()
            show(transfers)
    if 1 < runs[0].connection_count() <= _MAX_CONNECTIONS:
        print()
        if len(runs) > 1:
            print(f"Connections of run {runs[0].run}")
        show(connections_table(runs[0].connection_rows()))
    if not quiet:
        print("\n".join(["", *_file_lines(runs, store), *_not_captured(scenario, runs)]))


def _heading(scenario: Scenario, runs: Sequence[Run]) -> str:
    """Return the scenario, the number, length and seed of the runs, and the changes."""
    changes = scenario.changes
    source = f"{source_text(scenario.source, changes)}; " if scenario.source else ""
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    summary = f"{source}{count} of {scenario.duration_s:g} s, seed {runs[0].seed}"
    return "\n".join(filter(None, [summary, changes_text(changes)]))


def _not_captured(scenario: Scenario, runs: Sequence[Run]) -> list[str]:
    return [f"note: {note}" for note in scenario.capture_notes] if runs[0].captures() else []


def _file_lines(runs: Sequence[Run], store: Store) -> list[str]:
    folder = runs[0].folder
    others = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    lines = [f"result {runs[0].identity.result}: {folder}{others}"]
    if runs[0].captures():
        lines.append(
            "captures: " + ", ".join(file.name for file in runs[0].captures()) + f" in {folder}/captures"
        )
    lines += [
        f"PDUs:     wireshark --enable-heuristic rlc_udp {shlex.quote(str(pdus))}"
        for pdus in runs[0].captures()
        if pdus.name == "rlc-downlink-delivery.pcapng"
    ]
    quoted_store = shlex.quote(str(store.path))
    if (kind := proposed_kind(runs[0])) is not None:
        lines.append(f"figures: umts plot {quoted_store} {kind}")
    return [*lines, f"every metric: umts export {quoted_store} --csv"]
