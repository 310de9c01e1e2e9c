"""Folder for damaged items of a store: ``damaged/``. Nothing is deleted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from os.path import lexists
from pathlib import Path

from umtslab.store.seal import Damage

FOLDER = "damaged"

Tell = Callable[[Damage], None]
"""Called once for each damaged item."""


class DamagedStore(UserWarning):
    """An item in a store is damaged, and was left out."""


def warn(damage: Damage) -> None:
    """Report damage as a Python warning."""
    import warnings

    warnings.warn(f"{damage}; it is skipped", DamagedStore, stacklevel=2)


def set_aside(store: Path, things: Iterable[Path]) -> Path:
    """Move related files or folders to ``damaged/``. Returns the new path of the first one."""
    folder = store / FOLDER
    folder.mkdir(exist_ok=True)
    first, *others = things
    numbers = itertools.count(1)
    place = folder / first.name
    while lexists(place) or any(lexists(folder / _beside(place, first, other)) for other in others):
        place = folder / f"{first.name}.{next(numbers)}"
    for other in others:
        other.rename(folder / _beside(place, first, other))
    first.rename(place)
    return place


def _beside(place: Path, first: Path, other: Path) -> str:
    """Return the new name of a file with the first file's prefix: ``catalogue.sqlite.1-wal``."""
    return place.name + other.name.removeprefix(first.name)
