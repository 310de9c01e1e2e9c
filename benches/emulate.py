"""Measurements of `umts emulate`, without pass or fail.

Usage: python benches/emulate.py [MEASUREMENT …] [--seconds N]
"""

from __future__ import annotations

import argparse

from emulation import cell, delays, fast, goodput, lateness, promotion, proxied, round_trips, system

MEASUREMENTS = {
    "goodput": goodput.check,
    "round-trips": round_trips.check,
    "promotion": promotion.check,
    "delays": delays.check,
    "lateness": lateness.check,
    "cell": cell.check,
    "fast": fast.check,
    "proxied": proxied.check,
    "system": system.check,
}


def main() -> None:
    """Run the named measurements, or all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measurements", nargs="*", metavar="MEASUREMENT", help=", ".join(MEASUREMENTS))
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="duration, or number of samples, of each measurement"
    )
    chosen = parser.parse_args()
    for name in chosen.measurements or MEASUREMENTS:
        MEASUREMENTS[name](chosen.seconds)


if __name__ == "__main__":
    main()
