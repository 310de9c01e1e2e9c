"""``umts lanes``: the lanes of the timeline."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.options import add_json

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


_SIGNS = {
    "equal": "=",
    "not": "!=",
    "prefix": "begins with",
    "above": ">",
    "unset": "not set",
    "missing": "missing",
    "present": "present",
}


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts lanes``."""
    parser.explain(
        "A lane is one row that a viewer draws above the time axis: the entries of a table that "
        "`umts run --timeline` records, or a part of them. `--json` also has the colours."
    )
    add_json(parser, "one JSON list")


def lanes(*, json: bool) -> int:
    """Print all lanes. `options` declares the arguments."""
    from umtslab import _core
    from umtslab.lanes import lanes
    from umtslab.text_table import Table, show

    if json:
        print(json_text.dumps(_core.lanes(), indent=1))
        return 0
    table = Table("lane", "layer", "table", "rows", "unit", "meaning")
    for lane in lanes():
        rows = ", ".join(
            f"{test.column} {_SIGNS[test.operator]} {test.operand}".rstrip() for test in lane.tests
        )
        table.add_row(lane.name, lane.layer, lane.table, rows or "all", lane.unit, lane.meaning)
    show(table)
    return 0
