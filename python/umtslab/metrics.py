"""Metric names, units and definitions, as defined by the core."""

from __future__ import annotations

from functools import lru_cache

from umtslab import _core

UPLINK = "_uplink"
"""Suffix of metrics of the uplink, which exist for the radio part and UDP."""


@lru_cache(maxsize=1)
def definitions() -> tuple[dict[str, str], ...]:
    """Return the definitions of all metrics.

    Metrics with the suffix `UPLINK` have no entry of their own.
    """
    return tuple(_core.metric_definitions())


def units() -> dict[str, str]:
    """Return the unit of each metric, empty for counts and ratios.

    Includes the metrics of the uplink.
    """
    defined = {entry["name"]: entry["unit"] for entry in definitions()}
    uplink = {
        entry["name"] + UPLINK: entry["unit"]
        for entry in definitions()
        if entry["scope"] in ("radio", "datagram")
    }
    return defined | uplink


def scopes() -> dict[str, str]:
    """Return the scope of each metric: TCP, radio, datagrams, cells, network and so on."""
    return {entry["name"]: entry["scope"] for entry in definitions()}


def unknown_metric_text(name: str) -> str:
    """Return the error text for an unknown metric, with a suggestion."""
    from difflib import get_close_matches

    similar = get_close_matches(name, units(), 1)
    hint = f"did you mean {similar[0]}?" if similar else "`umts metrics` lists them"
    return f"there is no metric {name!r}; {hint}"
