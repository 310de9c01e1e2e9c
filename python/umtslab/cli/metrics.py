"""``umts metrics``: every metric, defined."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_json
from umtslab.metrics import definitions

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """What can be typed behind ``umts metrics``."""
    parser.explain(
        "Metrics of the radio part are of the downlink; each has a twin for the uplink, with "
        "`_uplink` behind its name.",
    )
    parser.add_argument(
        "containing",
        nargs="?",
        metavar="WORD",
        default="",
        help="Only metrics whose name contains this.",
    )
    add_json(parser, "one JSON list")


def metrics(containing: str, *, json: bool) -> int:
    """Print every metric, or some; arguments as `options` declares them."""
    rows = [entry for entry in definitions() if containing in entry["name"]]
    if not rows:
        raise UsageError(f"no metric's name contains {containing!r}")
    if json:
        print(json_text.dumps(rows, indent=1))
        return 0
    from umtslab.columns import show
    from umtslab.terminal import rows_table

    columns = ("name", "label", "unit", "scope", "meaning", "numerator", "denominator")
    show(rows_table([{column: row[column] for column in columns} for row in rows]))
    return 0
