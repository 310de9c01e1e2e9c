"""``umts profiles``: TCP as a whole under one name."""

from __future__ import annotations

import json as json_text

from umtslab.cli.failures import UsageError


def profiles(name: str = "", /, *, json: bool = False) -> int:
    """The profiles of TCP, or every key of one with its value and where that comes from.

    Parameters
    ----------
    name
        The profile to print; without it, all of them in a line each.
    json
        Print one JSON list (of one profile: one object) on standard output and nothing else there.
    """
    from umtslab import _core

    known = _core.profiles()
    if not name:
        _print(json_text.dumps(known, indent=1) if json else [_line(profile) for profile in known])
        return 0
    found = next((profile for profile in known if profile["name"] == name), None)
    if found is None:
        names = ", ".join(profile["name"] for profile in known)
        raise UsageError(f"no profile is called {name!r}; there are {names}")
    _print(json_text.dumps(found, indent=1) if json else found["keys"])
    return 0


def _line(profile: dict[str, str]) -> dict[str, str]:
    return {"profile": profile["name"], "description": profile["description"]}


def _print(content: str | list[dict[str, str]]) -> None:
    if isinstance(content, str):
        print(content)
        return
    from umtslab.terminal import output, rows_table

    output().print(rows_table(content))
