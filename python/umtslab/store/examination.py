"""Examination of a store file by file, and repair. Damaged items are moved to ``damaged/``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from umtslab.atomic_files import stored_text
from umtslab.run import Run
from umtslab.store import catalogue_file
from umtslab.store.campaign_tables import campaign_content
from umtslab.store.damaged import set_aside
from umtslab.store.reconcile import folders, read_stored_run
from umtslab.store.seal import Damage, Damaged, unsealed
from umtslab.store.staging import Staging, irregular_locks
from umtslab.store.store import open_store


@dataclass
class Examination:
    """Result of an examination."""

    store: Path
    runs: int = 0
    """Number of sound runs."""
    without_digests: int = 0
    """Sound runs written before digests existed. Most damage to them cannot be detected."""
    damage: list[Damage] = field(default_factory=list)
    contradicted_rows: list[str] = field(default_factory=list)
    """Keys of sound runs with a catalogue row that differs from their files."""


def examine(store: Path) -> Examination:
    """Read every file of a store without changing any.

    Raises
    ------
    umtslab.store.OtherLayout
        If the store has the layout of another version.
    OSError
        If it cannot be read.
    """
    catalogue_file.refuse_other_layout(store)
    examination = Examination(store)
    sound_runs = {}
    for key in sorted(folders(store)):
        try:
            sound_runs[key] = read_stored_run(store, key)
        except Damaged as damaged:
            examination.damage.append(damaged.damage)
        else:
            examination.without_digests += not _has_digests(store / "runs" / key)
    examination.runs = len(sound_runs)
    examination.damage += [
        *_catalogue_damage(examination, sound_runs),
        *_campaign_damage(store),
        *_study_damage(store),
        *_lock_damage(store),
    ]
    return examination


def repair(examination: Examination) -> list[str]:
    """Set damaged items aside, and rebuild a damaged catalogue. Returns the steps as text.

    Raises
    ------
    OSError
        If the store cannot be written.
    """
    steps = []
    for path, _ in irregular_locks(examination.store):
        aside = set_aside(examination.store, [path])
        steps.append(f"lock {path.name} was moved to {aside}")
    staging = Staging(examination.store)
    try:
        with staging.exclusively():
            for damage in examination.damage:
                if paths := _paths_to_set_aside(examination.store, damage):
                    aside = set_aside(examination.store, paths)
                    steps.append(f"{damage.kind} {damage.name} was moved to {aside}")
    finally:
        staging.close()
    catalogue_file.clear_state(examination.store)
    damage_on_opening: list[Damage] = []
    with open_store(examination.store, damage_on_opening.append) as store:
        store.reinsert(examination.contradicted_rows)
    reinserted = [f"run {key} was added to the catalogue again" for key in examination.contradicted_rows]
    return [*steps, *map(str, damage_on_opening), *reinserted]


def _paths_to_set_aside(store: Path, damage: Damage) -> list[Path]:
    """Return the files to set aside. The catalogue is set aside when the store is opened."""
    match damage.kind:
        case "run":
            return [store / "runs" / damage.name]
        case "campaign":
            return [store / "campaigns" / f"{damage.name}.json"]
        case "study":
            return [store / "studies" / f"{damage.name}.sqlite"]
        case "record of study":
            return [store / "studies" / f"{damage.name}.json"]
    return []


def _catalogue_damage(examination: Examination, sound_runs: Mapping[str, Run]) -> Iterator[Damage]:
    """Yield damage of the catalogue, and note in `examination` which rows contradict the folders."""
    name = catalogue_file.NAME
    try:
        catalogue = catalogue_file.open_to_read(examination.store, is_audited=True)
    except catalogue_file.NoCatalogue:
        if sound_runs:
            yield Damage("catalogue", name, (f"{name} is missing or cannot be read",))
        return
    except catalogue_file.BrokenCatalogue as broken:
        yield Damage("catalogue", name, (str(broken),))
        return
    with closing(catalogue):
        rows = catalogue.of_keys(sound_runs)
    examination.contradicted_rows = sorted(run.key for run in rows if run != sound_runs[run.key])
    if flaws := tuple(
        f"its row of run {key} differs from the files of the run" for key in examination.contradicted_rows
    ):
        yield Damage("catalogue", name, flaws)


def _campaign_damage(store: Path) -> Iterator[Damage]:
    for path in sorted((store / "campaigns").glob("*.json")):
        try:
            campaign_content(path)
        except ValueError as error:
            yield Damage("campaign", path.stem, (str(error),))


def _study_damage(store: Path) -> Iterator[Damage]:
    """Yield damaged records of studies. `umtslab.studies.trials` examines their trials."""
    for path in sorted((store / "studies").glob("*.json")):
        try:
            unsealed(path)
        except ValueError as error:
            yield Damage("record of study", path.stem, (str(error),))


def _lock_damage(store: Path) -> Iterator[Damage]:
    for path, kind in irregular_locks(store):
        yield Damage("lock", path.name, (f"it is {kind}, not a file",))


def _has_digests(folder: Path) -> bool:
    return "digest" in json.loads(stored_text(folder / "run.json"))
