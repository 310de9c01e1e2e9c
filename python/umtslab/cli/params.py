"""``umts params``: every key of a scenario file."""

from __future__ import annotations

import json as json_text

from umtslab.cli.failures import UsageError
from umtslab.cli.keys import keys_like


def params(containing: str = "", /, *, json: bool = False) -> int:
    """Every key of a scenario file: kind, default, range, source.

    Parameters
    ----------
    containing
        Only keys that contain this; where none does, those whose description does, or that are called so
        elsewhere or spelled nearly so.
    json
        Print one JSON list on standard output and nothing else there.
    """
    from umtslab import _core

    every = _core.params()
    rows = [row for row in every if containing in row["key"]] or [
        row for row in every if containing.lower() in f"{row['description']} {row['choices']}".lower()
    ]
    if not rows:
        near = keys_like(containing)
        rows = [row for row in every if row["key"] in near]
    if not rows:
        raise UsageError(f"no key contains {containing!r}, and no description does")
    if json:
        print(json_text.dumps(rows, indent=1))
        return 0
    from umtslab.terminal import output, rows_table

    output().print(rows_table([_key_first(row) for row in rows]))
    return 0


def _key_first(row: dict[str, str]) -> dict[str, str]:
    return {"key": row["key"], **row}
