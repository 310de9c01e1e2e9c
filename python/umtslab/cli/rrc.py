"""``umts rrc``: RRC configurations of real networks."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_json

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts rrc``."""
    parser.explain(
        "Keys that a profile does not set keep their defaults (`umts params rrc`). Keys in the "
        "scenario take precedence over the profile.",
    )
    parser.add_argument(
        "containing",
        nargs="?",
        metavar="WORD",
        default="",
        help="Show only profiles with this text in their name.",
    )
    add_json(parser, "one JSON list")


def rrc(containing: str, *, json: bool) -> int:
    """Print the RRC profiles with the keys that they set and their sources."""
    from umtslab import _core

    profiles = [profile for profile in _core.rrc_profiles() if containing in profile["name"]]
    if not profiles:
        raise UsageError(f"no profile has {containing!r} in its name")
    if json:
        print(json_text.dumps(profiles, indent=1))
        return 0
    from umtslab.terminal import rows_table
    from umtslab.text_table import show

    headings = {"profile": "name", "description": "description", "keys of [rrc]": "keys", "source": "source"}
    show(rows_table([{title: profile[key] for title, key in headings.items()} for profile in profiles]))
    return 0
