"""Finds the run of an emulation that was shown live and has ended.

The account of a stored emulation (``emulation.json`` in the folder of the run) has the name under which
the emulation was shown.
"""

from __future__ import annotations

import json
from pathlib import Path

from umtslab.atomic_files import stored_text

_MAX_FOLDERS = 500
"""Number of folders of runs in which an account is looked for: those that changed last."""


def last_change(store: Path) -> int:
    """Return the time of the last new run, in nanoseconds since 1970. 0 if there is no run."""
    try:
        return (store / "runs").stat().st_mtime_ns
    except OSError:
        return 0


def run_of(store: Path, name: str) -> str | None:
    """Return the key of the run of the emulation `name`, or None if it is not stored."""
    for folder in _newest(store):
        if _live_name(folder) == name:
            return folder.name
    return None


def _newest(store: Path) -> list[Path]:
    """Return the folders of the runs that changed last, newest first."""
    try:
        changed = [(folder.stat().st_mtime_ns, folder) for folder in (store / "runs").iterdir()]
    except OSError:
        # There is no run yet, or a run was removed meanwhile.
        return []
    return [folder for _, folder in sorted(changed, reverse=True)[:_MAX_FOLDERS]]


def _live_name(folder: Path) -> str | None:
    """Return the name under which the emulation of this run was shown. None for other runs."""
    try:
        name = json.loads(stored_text(folder / "emulation.json"))["session"]["live"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return name if isinstance(name, str) else None
