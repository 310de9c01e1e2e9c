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
from umtslab.store.reconcile import folders, kept_run
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
    contradicted: list[str] = field(default_factory=list)
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
    found = Examination(store)
    sound = {}
    for key in sorted(folders(store)):
        try:
            sound[key] = kept_run(store, key)
        except Damaged as damaged:
            found.damage.append(damaged.damage)
        else:
            found.without_digests += not _has_digests(store / "runs" / key)
    found.runs = len(sound)
    found.damage += [
        *_of_catalogue(found, sound),
        *_of_campaigns(store),
        *_of_studies(store),
        *_of_locks(store),
    ]
    return found


def repair(found: Examination) -> list[str]:
    """Set damaged items aside, and rebuild a damaged catalogue. Returns the steps as text.

    Raises
    ------
    OSError
        If the store cannot be written.
    """
    done = []
    for path, _ in irregular_locks(found.store):
        aside = set_aside(found.store, [path])
        done.append(f"lock {path.name} was moved to {aside}")
    staging = Staging(found.store)
    try:
        with staging.exclusively():
            for damage in found.damage:
                if things := _things(found.store, damage):
                    aside = set_aside(found.store, things)
                    done.append(f"{damage.kind} {damage.name} was moved to {aside}")
    finally:
        staging.close()
    catalogue_file.forget(found.store)
    again: list[Damage] = []
    with open_store(found.store, again.append) as store:
        store.reinsert(found.contradicted)
    entered = [f"run {key} was added to the catalogue again" for key in found.contradicted]
    return [*done, *map(str, again), *entered]


def _things(store: Path, damage: Damage) -> list[Path]:
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


def _of_catalogue(found: Examination, sound: Mapping[str, Run]) -> Iterator[Damage]:
    name = catalogue_file.NAME
    try:
        catalogue = catalogue_file.open_to_read(found.store, audited=True)
    except catalogue_file.NoCatalogue:
        if sound:
            yield Damage("catalogue", name, (f"{name} is missing or cannot be read",))
        return
    except catalogue_file.BrokenCatalogue as broken:
        yield Damage("catalogue", name, (str(broken),))
        return
    with closing(catalogue):
        rows = catalogue.of_keys(sound)
    found.contradicted = sorted(run.key for run in rows if run != sound[run.key])
    if flaws := tuple(
        f"its row of run {key} differs from the files of the run" for key in found.contradicted
    ):
        yield Damage("catalogue", name, flaws)


def _of_campaigns(store: Path) -> Iterator[Damage]:
    for path in sorted((store / "campaigns").glob("*.json")):
        try:
            campaign_content(path)
        except ValueError as error:
            yield Damage("campaign", path.stem, (str(error),))


def _of_studies(store: Path) -> Iterator[Damage]:
    """Damaged records of studies. `umtslab.studies.trials` examines their trials."""
    for path in sorted((store / "studies").glob("*.json")):
        try:
            unsealed(path)
        except ValueError as error:
            yield Damage("record of study", path.stem, (str(error),))


def _of_locks(store: Path) -> Iterator[Damage]:
    for path, found in irregular_locks(store):
        yield Damage("lock", path.name, (f"it is {found}, not a file",))


def _has_digests(folder: Path) -> bool:
    return "digest" in json.loads(stored_text(folder / "run.json"))
