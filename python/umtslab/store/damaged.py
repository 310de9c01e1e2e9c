"""Folder for damaged items of a store: ``damaged/``. Nothing is deleted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from os.path import lexists
from pathlib import Path

from umtslab.store.seal import Damage

FOLDER = "damaged"

DamageHandler = Callable[[Damage], None]
"""Called once for each damaged item."""


class DamagedStore(UserWarning):
    """An item in a store is damaged, and was left out."""


def warn(damage: Damage) -> None:
    """Report damage as a Python warning."""
    import warnings

    warnings.warn(f"{damage}; it is skipped", DamagedStore, stacklevel=2)


def set_aside(store: Path, items: Iterable[Path]) -> Path:
    """Move related files or folders to ``damaged/``. Returns the new path of the first one."""
    folder = store / FOLDER
    folder.mkdir(exist_ok=True)
    first, *others = items
    numbers = itertools.count(1)
    target = folder / first.name
    while lexists(target) or any(lexists(folder / _new_name(target, first, other)) for other in others):
        target = folder / f"{first.name}.{next(numbers)}"
    for other in others:
        other.rename(folder / _new_name(target, first, other))
    first.rename(target)
    return target


def _new_name(target: Path, first: Path, other: Path) -> str:
    """Return the new name of a file with the first file's prefix: ``catalogue.sqlite.1-wal``."""
    return target.name + other.name.removeprefix(first.name)
