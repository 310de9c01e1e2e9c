"""``umts metrics``: definitions of all metrics."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_json
from umtslab.cli.reference_list import MAX_BLOCKS, entries_described_by, print_entries
from umtslab.former_names import current_metric
from umtslab.metrics import definitions

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts metrics``."""
    parser.explain(
        "Metrics of the radio refer to the downlink. Each has a counterpart for the uplink, with "
        "`_uplink` at the end of its name.",
        f"The name of a metric shows that metric alone. Up to {MAX_BLOCKS} metrics are printed in "
        "full, with scope and formula; more metrics as a table of units and meanings. `--json` has "
        "everything.",
    )
    parser.add_argument(
        "containing",
        nargs="?",
        metavar="WORD",
        default="",
        help=("Show only metrics with this text in their name, or if there are none, in their description."),
    )
    add_json(parser, "one JSON list")


def metrics(containing: str, *, json: bool) -> int:
    """Print all or some metrics. `options` declares the arguments."""
    containing = current_metric(containing)
    all_metrics = definitions()
    rows = (
        [entry for entry in all_metrics if entry["name"] == containing]
        or [entry for entry in all_metrics if containing in entry["name"]]
        or entries_described_by(all_metrics, containing, ("label", "meaning", "numerator", "denominator"))
    )
    if not rows:
        raise UsageError(f"no metric has {containing!r} in its name or description")
    if json:
        print(json_text.dumps(rows, indent=1))
        return 0
    columns = ("name", "label", "meaning", "unit", "scope", "numerator", "denominator")
    entries = [{column: row[column] for column in columns} for row in rows]
    print_entries(entries, "name", ("unit", "meaning"), text="meaning")
    return 0
