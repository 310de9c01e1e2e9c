"""``umts profiles``: named TCP configurations."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_json

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts profiles``."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        default="",
        help="Name of the profile to print in full (default: one line per profile).",
    )
    add_json(parser, "one JSON list (of one profile: one object)")


def profiles(name: str, *, json: bool) -> int:
    """Print the TCP profiles, or all keys of one profile with value and source."""
    from umtslab import _core

    known = _core.profiles()
    if not name:
        _print(json_text.dumps(known, indent=1) if json else [_line(profile) for profile in known])
        return 0
    chosen = next((profile for profile in known if profile["name"] == name), None)
    if chosen is None:
        names = ", ".join(profile["name"] for profile in known)
        raise UsageError(f"there is no profile {name!r}; there are {names}")
    _print(json_text.dumps(chosen, indent=1) if json else chosen["keys"])
    return 0


def _line(profile: dict[str, str]) -> dict[str, str]:
    return {"profile": profile["name"], "description": profile["description"]}


def _print(content: str | list[dict[str, str]]) -> None:
    """Print JSON text as it is, and rows as a table."""
    if isinstance(content, str):
        print(content)
        return
    from umtslab.terminal import rows_table
    from umtslab.text_table import show

    show(rows_table(content))
