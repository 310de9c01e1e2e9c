"""Earlier names of metrics and scenario keys: in stored runs, and in commands that users remember."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")

_FORMER = "pep"
_CURRENT = "proxy"


def current_metrics(stored: Mapping[str, Value]) -> dict[str, Value]:
    """Return the metrics of a stored run under their current names."""
    return {current_metric(name): value for name, value in stored.items()}


def current_metric(name: str) -> str:
    """Return the current name of a metric: ``proxy_transfers`` for ``pep_transfers``."""
    return "_".join(_CURRENT if part == _FORMER else part for part in name.split("_"))


def current_key(key: str) -> str:
    """Return the current name of a scenario key: ``proxy.buffer`` for ``pep.buffer``."""
    first, *rest = key.split(".")
    return ".".join([_CURRENT if first == _FORMER else first, *rest])
