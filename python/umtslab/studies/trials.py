"""Trials in Optuna's file of a study: digests, and detection of damage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from umtslab.atomic_files import describe_irregular
from umtslab.store.seal import Damage

DIGEST = "umtslab:digest"
"""The user attribute of a trial with its digest."""


class ChangedTrial(ValueError):
    """A trial differs from its digest."""


def digest(trial: Any) -> str:
    """Return a digest of a finished trial, with all values that determine later trials."""
    parts = [trial.number, trial.state.name, trial.params, trial.values, trial.system_attrs]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def check_trials(study: Any) -> None:
    """Compare the trials of an Optuna study with their digests.

    Raises
    ------
    ChangedTrial
        If a trial differs from its digest.
    """
    for number, trial in enumerate(study.get_trials(deepcopy=False)):
        if trial.number != number or trial.user_attrs.get(DIGEST) != digest(trial):
            raise ChangedTrial(f"trial {number} is not as it was written")


def damaged_studies(store: Path) -> Iterator[Damage]:
    """Yield the damaged study files of a store.

    Trials are compared with their digests if Optuna is installed.
    """
    for path in sorted((store / "studies").glob("*.sqlite")):
        if (flaw := _flaw(path)) is not None:
            yield Damage("study", path.stem, (flaw,))


def _flaw(path: Path) -> str | None:
    """Describe why the file cannot be used; None if it can."""
    for ending in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + ending)
        if (irregularity := describe_irregular(file)) is not None:
            return f"{file.name} is {irregularity}, not a file"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            [(verdict,)] = db.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.Error as error:
        return str(error)
    if verdict != "ok":
        return str(verdict)
    return _changed_trial(path)


def _changed_trial(path: Path) -> str | None:
    """Describe the first changed trial of a file.

    None if there is none, or Optuna is not installed.
    """
    try:
        import optuna
    except ImportError:
        return None
    import shutil
    from tempfile import TemporaryDirectory

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # Works on a copy, because Optuna writes to a database when it opens one.
    with TemporaryDirectory(prefix="umts-study-") as folder:
        for file in path.parent.glob(f"{path.name}*"):
            if file.is_file():
                shutil.copyfile(file, Path(folder) / file.name)
        try:
            storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/{path.name}")
            for name in optuna.get_all_study_names(storage):
                check_trials(optuna.load_study(study_name=name, storage=storage))
        except ChangedTrial as error:
            return str(error)
        except Exception as error:  # broken content raises many kinds of errors in Optuna and SQLAlchemy
            return f"Optuna cannot read it ({type(error).__name__})"
    return None
