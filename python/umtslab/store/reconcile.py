"""Reconciliation of the catalogue with the run folders, which take precedence."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from umtslab.atomic_files import stored_text
from umtslab.run import Run
from umtslab.store.catalogue import Catalogue, Row
from umtslab.store.damaged import DamageHandler
from umtslab.store.folder import OtherLayout, is_run_folder, read_run
from umtslab.store.remake import parameters, run_command
from umtslab.store.seal import Damage, Damaged

_KEY = re.compile(r"[0-9a-f]{32}")


def reconcile(
    store: Path, catalogue: Catalogue, report: DamageHandler, salvaged: Mapping[str, Row] | None = None
) -> None:
    """Add missing runs to the catalogue, remove runs that are gone, and report damaged ones.

    `salvaged` has rows of a damaged catalogue, which contain information that run folders lack.
    """
    new, removed = differences(store, catalogue)
    for key in sorted(new):
        try:
            run = read_stored_run(store, key)
        except Damaged as damaged:
            report(damaged.damage)
        else:
            catalogue.add(run, (salvaged or {}).get(key) or _row(store, run))
    if removed:
        catalogue.remove(removed)


def differences(store: Path, catalogue: Catalogue) -> tuple[set[str], set[str]]:
    """Return the keys of runs without a row, and of rows without a folder."""
    catalogued = catalogue.keys()
    present = folders(store)
    return present - catalogued, catalogued - present


def folders(store: Path) -> set[str]:
    """Return the names in ``runs/`` that are keys, or folders with a ``run.json``."""
    runs = store / "runs"
    names = os.listdir(runs) if runs.is_dir() else []
    return {name for name in names if _KEY.fullmatch(name) or is_run_folder(runs / name)}


def read_stored_run(store: Path, key: str) -> Run:
    """Read the run in a folder of a store.

    Raises
    ------
    Damaged
        If a file is damaged, or the folder contains another run.
    """
    try:
        run = read_run(store / "runs" / key)
    except OtherLayout as other:  # one run of a store whose layout is ours
        raise Damaged(Damage("run", key, (f"run.json cannot be read: {other}",))) from other
    if run.key != key:
        raise Damaged(Damage("run", key, (f"run.json belongs to another run, {run.key}",)))
    return run


def _row(store: Path, run: Run) -> Row:
    """Derive the row of a run from its folder.

    The overrides of the original command are unknown.
    """
    assert run.folder is not None, "it was read from there"
    scenario_file = run.folder / "scenario.toml"
    series, pcap = bool(run.series_kinds()), bool(run.captures())
    command = run_command(scenario_file, (), run.identity, store, series=series, pcap=pcap)
    written = datetime.fromtimestamp((run.folder / "run.json").stat().st_mtime, UTC)
    text = stored_text(scenario_file)
    return Row(
        parameters=parameters(text), created=written.isoformat(timespec="microseconds"), command=command
    )
