"""Where damaged things of a store go: ``damaged/``, beside what is sound. Nothing is deleted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from os.path import lexists
from pathlib import Path

from umtslab.store.seal import Damage

FOLDER = "damaged"

Tell = Callable[[Damage], None]
"""Told of each damage that is met, once."""


class DamagedStore(UserWarning):
    """Something in a store is damaged, and was left out."""


def warn(damage: Damage) -> None:
    """Tell of a damage as Python programs are told."""
    import warnings

    warnings.warn(f"{damage}; it is left out", DamagedStore, stacklevel=2)


def set_aside(store: Path, things: Iterable[Path]) -> Path:
    """Move files or folders that belong together out of the way; where to, which is where the first went."""
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
    """The name of a file that is called as another one with an ending: ``catalogue.sqlite.1-wal``."""
    return place.name + other.name.removeprefix(first.name)
