"""``umts doctor STORE``: checks and repairs a results folder."""

from __future__ import annotations

import json as json_text
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import CannotOpen, UsageError
from umtslab.exit_status import FAILED
from umtslab.store.reader import is_store

if TYPE_CHECKING:
    from umtslab.store.examination import Examination


def look_at(store: Path, *, repair: bool, json: bool) -> int:
    """Check a results folder and print the damage.

    Returns the exit status: `FAILED` if there is damage that was not repaired.
    """
    from umtslab.store import examination
    from umtslab.studies.trials import damaged_studies

    if not is_store(store):
        raise UsageError(f"{store} is not a results folder: it has neither a catalogue nor runs")
    try:
        found = examination.examine(store)
        found.damage += damaged_studies(store)
        done = examination.repair(found) if repair and found.damage else []
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(store, error) from error
    if json:
        print(json_text.dumps(_as_json(found, done), indent=1))
    else:
        _print(found, done, repair=repair)
    return FAILED if found.damage and not repair else 0


def _as_json(found: Examination, done: list[str]) -> dict[str, object]:
    return {
        "store": str(found.store),
        "sound_runs": found.runs,
        "without_digests": found.without_digests,
        "damage": [
            {"kind": damage.kind, "name": damage.name, "flaws": list(damage.flaws)} for damage in found.damage
        ],
        "done": done,
    }


def _print(found: Examination, done: list[str], *, repair: bool) -> None:
    print(f"{found.store}: {found.runs} sound {'run' if found.runs == 1 else 'runs'}")
    if found.without_digests:
        print(f"{found.without_digests} of them have no digests, because an earlier version wrote them")
    for damage in found.damage:
        print(f"{damage.kind} {damage.name} is damaged:")
        for flaw in damage.flaws:
            print(f"  {flaw}")
    for line in done:
        print(line)
    if not found.damage:
        print("no damage found")
    elif repair:
        print("nothing was deleted; the original commands create the moved files again")
    else:
        print(
            "umts doctor FOLDER --repair moves these to FOLDER/damaged; umts run --resume and umts "
            "sweep create runs again"
        )
