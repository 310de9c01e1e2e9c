"""Metric names of earlier versions, which stored runs may contain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")

_PARTS = (("pep_", "proxy_"),)
"""Former and current parts of names. A part begins a name or follows an underscore."""


def current_metrics(stored: Mapping[str, Value]) -> dict[str, Value]:
    """Return the metrics of a stored run under their current names."""
    return {_current(name): value for name, value in stored.items()}


def _current(name: str) -> str:
    for former, current in _PARTS:
        if name.startswith(former):
            return current + name.removeprefix(former)
        name = name.replace("_" + former, "_" + current)
    return name
