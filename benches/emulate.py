"""Measurements of `umts emulate`, without pass or fail.

Usage: python benches/emulate.py [CHECK …] [--seconds N]
"""

from __future__ import annotations

import argparse

from emulation import cell, delays, fast, goodput, lateness, promotion, proxied, round_trips, system

CHECKS = {
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
    """Run the named checks, or all checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    parser.add_argument("--seconds", type=float, default=20.0)
    chosen = parser.parse_args()
    for name in chosen.checks or CHECKS:
        CHECKS[name](chosen.seconds)


if __name__ == "__main__":
    main()
