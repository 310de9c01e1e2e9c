"""What a TOML file is for: scenarios, campaigns, studies and plans each have a verb."""

from __future__ import annotations

from pathlib import Path

from umtslab.atomic_files import whole_text
from umtslab.cli.failures import UsageError

_MARKS = {
    "reproduce": ("the plan of a reproduction", {"claims"}),
    "optimise": ("a study that optimises", {"constraint", "objective", "trials"}),
    "sensitivity": ("a study of what matters", {"method", "parameters", "samples"}),
    "sweep": ("a campaign", {"grid", "list", "where", "zip"}),
    "run": ("a scenario", {"extends", "ue"}),
}
"""By verb: what its files are, and keys that files for no other verb have."""


def check_purpose(path: Path, *verbs: str) -> None:
    """Refuse a file that is another verb's than these, by its keys.

    What cannot be read, or shows no purpose, is left to who reads it, who knows what is wrong with it.
    """
    found = _purposes(path)
    if found and not set(found) & set(verbs):
        raise UsageError(f"{path} is {_MARKS[found[0]][0]}: {command(found[0], path)}")


def purpose(path: Path) -> str | None:
    """The verb that a file is for; None if it cannot be read or shows no purpose."""
    return next(iter(_purposes(path)), None)


def command(verb: str, path: Path) -> str:
    """How a verb takes a file: plans of reproductions are named by paper and chapter."""
    words = f"{path.absolute().parent.name}/{path.stem}" if verb == "reproduce" else path
    return f"umts {verb} {words}"


def _purposes(path: Path) -> list[str]:
    import tomllib

    try:
        keys = tomllib.loads(whole_text(path) if path.is_file() else "").keys()
    except (OSError, ValueError, RecursionError):
        return []
    found = [verb for verb, (_, marks) in _MARKS.items() if marks & keys]
    # Both kinds of studies have parameters.
    return [verb for verb in found if verb != "sensitivity" or "optimise" not in found]
