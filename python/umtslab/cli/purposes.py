"""What a TOML file is for: scenarios, campaigns, studies and plans each have a verb."""

from __future__ import annotations

import tomllib
from pathlib import Path

from umtslab.cli.failures import UsageError

_MARKS = {
    "reproduce": ("the plan of a reproduction", {"claims"}),
    "optimise": ("a study that optimises", {"constraint", "objective", "trials"}),
    "sensitivity": ("a study of what matters", {"method", "metrics", "samples"}),
    "sweep": ("a campaign", {"grid", "list", "where", "zip"}),
    "run": ("a scenario", {"extends", "ue"}),
}
"""By verb: what its files are, and keys that files for no other verb have."""


def check_purpose(path: Path, *verbs: str) -> None:
    """Refuse a file that is another verb's than these, by its keys.

    What cannot be read, or shows no purpose, is left to who reads it, who knows what is wrong with it.
    """
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8")).keys()
    except (OSError, ValueError):
        return
    found = [verb for verb, (_, marks) in _MARKS.items() if marks & keys]
    if not found or set(found) & set(verbs):
        return
    words = f"{path.absolute().parent.name}/{path.stem}" if found[0] == "reproduce" else path
    raise UsageError(f"{path} is {_MARKS[found[0]][0]}: umts {found[0]} {words}")
