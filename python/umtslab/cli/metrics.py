"""``umts metrics``: every metric, defined."""

from __future__ import annotations

import json as json_text

from umtslab.cli.failures import UsageError
from umtslab.metrics import definitions


def metrics(containing: str = "", /, *, json: bool = False) -> int:
    """Every metric: unit, meaning, formula.

    Metrics of the radio part are of the downlink; each has a twin for the uplink, with `_uplink` behind its
    name.

    Parameters
    ----------
    containing
        Only metrics whose name contains this.
    json
        Print one JSON list on standard output and nothing else there.
    """
    rows = [entry for entry in definitions() if containing in entry["name"]]
    if not rows:
        raise UsageError(f"no metric's name contains {containing!r}")
    if json:
        print(json_text.dumps(rows, indent=1))
        return 0
    from umtslab.terminal import output, rows_table

    columns = ("name", "unit", "scope", "meaning", "numerator", "denominator")
    output().print(rows_table([{column: row[column] for column in columns} for row in rows]))
    return 0
