"""``umts params``: all keys of a scenario file."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.keys import called, keys_like
from umtslab.cli.options import add_json
from umtslab.cli.reference_list import MOST_BLOCKS, described, print_entries

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts params``."""
    parser.explain(
        f"Up to {MOST_BLOCKS} keys are printed in full: description, kind, default, range, source, and "
        "the meaning of each choice. Of more keys a table has default and description; `--json` has all."
    )
    parser.add_argument(
        "containing",
        nargs="?",
        metavar="WORD",
        default="",
        help=(
            "Show only keys that contain this text, or that are known by this name elsewhere (queue, "
            "cwnd, latency); if there are none, keys with this text in their description or with a "
            "similar spelling."
        ),
    )
    add_json(parser, "one JSON list")


def params(containing: str, *, json: bool) -> int:
    """Print all or some keys of a scenario file. `options` declares the arguments."""
    from umtslab import _core
    from umtslab.former_names import current_key

    containing = current_key(containing)
    every = _core.params()
    meant = called(containing)
    rows = [row for row in every if containing in row["key"] or row["key"] in meant] or described(
        every, containing, ("label", "description", "choices")
    )
    if not rows:
        near = keys_like(containing)
        rows = [row for row in every if row["key"] in near]
    if not rows:
        raise UsageError(f"no key contains {containing!r}, and no description does")
    if json:
        print(json_text.dumps(rows, indent=1))
        return 0
    print_entries(rows, "key", ("default", "description"), text="description")
    return 0
