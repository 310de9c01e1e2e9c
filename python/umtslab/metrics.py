"""Metric names, units and definitions, as the core states them."""

from __future__ import annotations

from functools import lru_cache

from umtslab import _core

UPLINK = "_uplink"
"""Behind the name of a metric of the radio part or of UDP: the same of the other direction."""


@lru_cache(maxsize=1)
def definitions() -> tuple[dict[str, str], ...]:
    """Every metric there is, as the core defines it."""
    return tuple(_core.metric_definitions())


def units() -> dict[str, str]:
    """Unit of each metric; empty for counts and ratios.

    Metrics of the radio part and of UDP have a twin for the uplink, which is not listed apart.
    """
    plain = {entry["name"]: entry["unit"] for entry in definitions()}
    twins = {
        entry["name"] + UPLINK: entry["unit"]
        for entry in definitions()
        if entry["scope"] in ("radio", "datagram")
    }
    return plain | twins


def scopes() -> dict[str, str]:
    """What each metric is about, as the core groups them: TCP, radio, datagrams, cells, the network."""
    return {entry["name"]: entry["scope"] for entry in definitions()}


def unknown(name: str) -> str:
    """The sentence about a metric that there is not."""
    from difflib import get_close_matches

    near = get_close_matches(name, units(), 1)
    hint = f"did you mean {near[0]}?" if near else "`umts metrics` lists them"
    return f"there is no metric {name!r}; {hint}"
