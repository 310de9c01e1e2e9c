"""Texts and folders that show by digests that they are as they were written.

The core digests files (BLAKE3). A sealed text is JSON with a digest of itself; the card of a run,
``run.json``, is one, and has the digests of the run's other files. So nothing in a store can change without
being noticed, by accident or by an editor; whoever wants to can seal anew, as it is no signature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umtslab import _core
from umtslab.atomic_files import stored_text

_CHANGED = "is not as it was written"


@dataclass(frozen=True)
class Damage:
    """What is wrong with something in a store: ``run 0123…: metrics.json is gone``."""

    kind: str
    """``run``, ``catalogue``, ``campaign``, ``study``, ``record of study`` or ``lock``."""
    name: str
    """The run's key, the campaign's name; of the catalogue, its file."""
    flaws: tuple[str, ...]
    """What is wrong, each with the file that it is wrong with."""

    def __str__(self) -> str:
        listed = "; ".join(self.flaws[:_SHOWN])
        more = f"; and {len(self.flaws) - _SHOWN} more" if len(self.flaws) > _SHOWN else ""
        return f"{self.kind} {self.name}: {listed}{more}"


_SHOWN = 3


class Damaged(ValueError):
    """Something is not as it was written, and cannot be used."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage


def sealed(content: Mapping[str, object], *, sort_keys: bool = False) -> str:
    """Some content as JSON, with a digest of that text."""
    text = json.dumps({"digest": "", **content}, indent=1, sort_keys=sort_keys, allow_nan=False) + "\n"
    # In a value its quotes would be escaped, so this is the key.
    return text.replace('"digest": ""', f'"digest": "{_core.digest(text.encode())}"', 1)


def unsealed(path: Path) -> dict[str, Any]:
    """The content of a sealed text; one from before there were seals is taken as it is.

    Raises
    ------
    ValueError
        If it is not as it was written, or cannot be read.
    """
    try:
        text = stored_text(path)
        content = json.loads(text)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name} {_CHANGED}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} {_CHANGED}")
    digest = content.pop("digest", None)
    if digest is not None:
        bare = text.replace(f'"digest": "{digest}"', '"digest": ""', 1)
        if digest == "" or _core.digest(bare.encode()) != digest:
            raise ValueError(f"{path.name} {_CHANGED}")
    return content


def flaws_of_run(folder: Path) -> tuple[str, ...]:
    """What is wrong with the folder of a run; nothing, if it is as it was written."""
    return _told(_core.check_run(str(folder)))


def flaws_of_runs(folders: Sequence[str]) -> list[tuple[str, ...]]:
    """The same of any number of folders, on all processors."""
    return [_told(flaws) for flaws in _core.check_runs(folders)]


def _told(flaws: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{file} {wrong}" for file, wrong in flaws)
