"""Detection of changes to texts and folders, by digests.

The core computes digests of files (BLAKE3). A sealed text is JSON with a digest of itself. The card
of a run, ``run.json``, is sealed and contains the digests of the run's other files. So changes by
accident or by an editor are detected. A seal is not a signature: it can be computed again on
purpose.
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
    """Damage of an item in a store: ``run 0123…: metrics.json is gone``."""

    kind: str
    """``run``, ``catalogue``, ``campaign``, ``study``, ``record of study`` or ``lock``."""
    name: str
    """Key of the run, name of the campaign or study, or file name of the catalogue or lock."""
    flaws: tuple[str, ...]
    """Descriptions of the damage, each with its file."""

    def __str__(self) -> str:
        listed = "; ".join(self.flaws[:_MAX_FLAWS])
        more = f"; and {len(self.flaws) - _MAX_FLAWS} more" if len(self.flaws) > _MAX_FLAWS else ""
        return f"{self.kind} {self.name}: {listed}{more}"


_MAX_FLAWS = 3
"""Maximum number of flaws in the text of a damage."""


class Damaged(ValueError):
    """An item differs from its seal or digests, and cannot be used."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage


def sealed(content: Mapping[str, object], *, sort_keys: bool = False) -> str:
    """Return content as JSON with a digest of that text."""
    text = json.dumps({"digest": "", **content}, indent=1, sort_keys=sort_keys, allow_nan=False) + "\n"
    # Inside a value the quotes would be escaped, so the match is the key.
    return text.replace('"digest": ""', f'"digest": "{_core.digest(text.encode())}"', 1)


def unsealed(path: Path) -> dict[str, Any]:
    """Read a sealed text. A text without a digest, from before seals existed, is accepted.

    Raises
    ------
    ValueError
        If it was changed, or cannot be read.
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
        unsealed_text = text.replace(f'"digest": "{digest}"', '"digest": ""', 1)
        if digest == "" or _core.digest(unsealed_text.encode()) != digest:
            raise ValueError(f"{path.name} {_CHANGED}")
    return content


def flaws_of_run(folder: Path) -> tuple[str, ...]:
    """Return the damage to the folder of a run. Empty if it is intact."""
    return _flaws(_core.check_run(str(folder)))


def flaws_of_runs(folders: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the damage to each folder, checked on all processors."""
    return [_flaws(flaws) for flaws in _core.check_runs(folders)]


def _flaws(flaws: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{file} {wrong}" for file, wrong in flaws)
