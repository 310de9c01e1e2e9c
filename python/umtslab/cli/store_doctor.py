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


def check_store(store: Path, *, repair: bool, json: bool) -> int:
    """Check a results folder and print the damage.

    Returns the exit status: `FAILED` if there is damage that was not repaired.
    """
    from umtslab.store import examination
    from umtslab.studies.trials import damaged_studies

    if not is_store(store):
        raise UsageError(f"{store} is not a results folder: it has neither a catalogue nor runs")
    try:
        examined = examination.examine(store)
        examined.damage += damaged_studies(store)
        steps = examination.repair(examined) if repair and examined.damage else []
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(store, error) from error
    if json:
        print(json_text.dumps(_as_json(examined, steps), indent=1))
    else:
        _print(examined, steps, repair=repair)
    return FAILED if examined.damage and not repair else 0


def _as_json(examined: Examination, steps: list[str]) -> dict[str, object]:
    return {
        "store": str(examined.store),
        "sound_runs": examined.runs,
        "without_digests": examined.without_digests,
        "damage": [
            {"kind": damage.kind, "name": damage.name, "flaws": list(damage.flaws)}
            for damage in examined.damage
        ],
        "done": steps,
    }


def _print(examined: Examination, steps: list[str], *, repair: bool) -> None:
    """Print the damage, the steps of the repair, and what can be done next."""
    print(f"{examined.store}: {examined.runs} sound {'run' if examined.runs == 1 else 'runs'}")
    if examined.without_digests:
        print(f"{examined.without_digests} of them have no digests, because an earlier version wrote them")
    for damage in examined.damage:
        print(f"{damage.kind} {damage.name} is damaged:")
        for flaw in damage.flaws:
            print(f"  {flaw}")
    for line in steps:
        print(line)
    if not examined.damage:
        print("no damage found")
    elif repair:
        print("nothing was deleted; the original commands create the moved files again")
    else:
        print(
            "umts doctor FOLDER --repair moves these to FOLDER/damaged; umts run --resume and umts "
            "sweep create runs again"
        )
