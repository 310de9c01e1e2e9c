"""``umts params``: all keys of a scenario file."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.keys import keys_by_other_name, keys_like
from umtslab.cli.options import add_json
from umtslab.cli.reference_list import MAX_BLOCKS, entries_described_by, print_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from umtslab.cli.parser import Parser

_UNITS = {
    "a bit rate": "bit/s, kbit/s, Mbit/s, Gbit/s",
    "a frequency": "Hz, kHz, MHz, GHz",
    "a length": "m, km",
    "a number of PDUs": "PDUs",
    "a number of blocks": "blocks",
    "a number of frames": "frames",
    "a power level": "dBm",
    "a ratio in decibels": "dB",
    "a size": "B, kB, MB, GB, KiB, MiB, GiB",
    "a speed": "m/s, km/h",
    "a time": "ns, us, ms, s, min, h",
    "a traffic": "Erl",
    "a window": "segments, B, kB, MB, GB, KiB, MiB, GiB",
    "an angle": "deg",
    "room in packets": "packets, B, kB, MB, GB, KiB, MiB, GiB",
}
"""Units that a value may have, by the beginning of its type."""


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts params``."""
    parser.explain(
        f"The name of a key shows that key alone. Up to {MAX_BLOCKS} keys are printed in full: "
        "description, type, units, range, default, source, and the meaning of each choice; more keys "
        "as a table of defaults and descriptions. `--json` has everything."
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
    all_keys = _core.params()
    by_other_name = keys_by_other_name(containing)
    rows = (
        [row for row in all_keys if row["key"] == containing]
        or [row for row in all_keys if containing in row["key"] or row["key"] in by_other_name]
        or entries_described_by(all_keys, containing, ("label", "description", "choices"))
    )
    if not rows:
        similar = keys_like(containing)
        rows = [row for row in all_keys if row["key"] in similar]
    if not rows:
        raise UsageError(f"no key has {containing!r} in its name or description")
    if json:
        print(json_text.dumps(rows, indent=1))
        return 0
    print_entries([_entry(row) for row in rows], "key", ("default", "description"), text="description")
    return 0


def _entry(row: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a key in the order of its card."""
    entry = {name: row[name] for name in ("key", "label", "description")}
    entry |= {"type": row["kind"], "unit": _units(row["kind"])}
    return entry | {name: row[name] for name in ("required", "range", "default", "source", "choices")}


def _units(kind: str) -> str:
    """Return the units of a type, or an empty text if its values have none."""
    if kind.startswith("a power, "):
        return kind.split('"')[1].split()[-1]
    return next((units for beginning, units in _UNITS.items() if kind.startswith(beginning)), "")
