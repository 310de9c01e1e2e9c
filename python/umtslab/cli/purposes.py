"""Recognition of TOML files: scenarios, campaigns, studies and reproduction plans by their keys."""

from __future__ import annotations

from pathlib import Path

from umtslab.atomic_files import bounded_text
from umtslab.cli.failures import UsageError

_DISTINCTIVE_KEYS = {
    "reproduce": ("the plan of a reproduction", {"claims"}),
    "optimise": ("an optimisation study", {"constraint", "objective", "trials"}),
    "sensitivity": ("a sensitivity study", {"method", "parameters", "samples"}),
    "sweep": ("a campaign", {"grid", "list", "where", "zip"}),
    "run": ("a scenario", {"extends", "ue"}),
}
"""For each verb a description of its files, and keys that only its files have."""


def check_purpose(path: Path, *verbs: str) -> None:
    """Refuse a file that belongs to another verb, according to its keys.

    Accepts files that cannot be read or recognised. The caller's own reader reports their errors.
    """
    verbs_of_file = _purposes(path)
    if verbs_of_file and not set(verbs_of_file) & set(verbs):
        verb = verbs_of_file[0]
        description, _ = _DISTINCTIVE_KEYS[verb]
        raise UsageError(f"{path} is {description}: {command(verb, path)}")


def purpose(path: Path) -> str | None:
    """Return the verb that a file belongs to, or None if the file cannot be read or recognised."""
    return next(iter(_purposes(path)), None)


def command(verb: str, path: Path) -> str:
    """Return the command that uses a file.

    Plans of reproductions are named by paper and chapter.
    """
    argument = f"{path.absolute().parent.name}/{path.stem}" if verb == "reproduce" else path
    return f"umts {verb} {argument}"


def _purposes(path: Path) -> list[str]:
    """Return the verbs that use files with distinctive keys of this file."""
    import tomllib

    try:
        keys = tomllib.loads(bounded_text(path) if path.is_file() else "").keys()
    except (OSError, ValueError, RecursionError):
        return []
    verbs = [verb for verb, (_, keys_of_verb) in _DISTINCTIVE_KEYS.items() if keys_of_verb & keys]
    # Optimisations also have the key `parameters`, so their own keys take precedence.
    return [verb for verb in verbs if verb != "sensitivity" or "optimise" not in verbs]
