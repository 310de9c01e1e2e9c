"""Time budgets: the time of TCP connections by cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_TOTAL = "total"

TRANSFERS_TOTAL = "transfer_budget_total_s"
"""Metric with the total time for which split transfers were open."""


class MissingBudget(LookupError):
    """The run recorded no time budget."""


@lru_cache(maxsize=1)
def causes() -> tuple[str, ...]:
    """Return all causes in order of precedence."""
    from umtslab.metrics import definitions

    names = [entry["name"] for entry in definitions() if entry["scope"] == "budget" and entry["unit"] == "%"]
    return tuple(name.removeprefix("budget_").removesuffix("_pct") for name in names)


def seconds(cause: str) -> str:
    """Return the name of the metric with the seconds of a cause."""
    return f"budget_{cause}_s"


@lru_cache(maxsize=1)
def needed_rto_parts() -> tuple[tuple[str, str], ...]:
    """Return metric and label of each part of ``rto_needed``, by place and reason of the loss."""
    from umtslab.metrics import definitions

    labels = {entry["name"]: entry["label"] for entry in definitions() if entry["scope"] == "budget"}
    return tuple(
        (name, label.removeprefix("Needed RTO ").replace(":", ""))
        for name, label in labels.items()
        if name.startswith("budget_rto_needed_after_")
    )


@lru_cache(maxsize=1)
def timeout_counts() -> tuple[tuple[str, str], ...]:
    """Return metric and label of each count of retransmission timeouts (both ends, by reason)."""
    from umtslab.metrics import definitions

    labels = {entry["name"]: entry["label"] for entry in definitions() if entry["scope"] == "budget"}
    return tuple((name, label) for name, label in labels.items() if "_rtos_" in name)


@lru_cache(maxsize=1)
def transfer_parts() -> tuple[tuple[str, str], ...]:
    """Return metric and label of each part of the time of split transfers.

    The parts in the proxy come first, then the parts of each leg in order of precedence.
    """
    from umtslab.metrics import definitions

    labels = {entry["name"]: entry["label"] for entry in definitions() if entry["scope"] == "transfers"}
    return tuple(
        (name, label.removeprefix("Transfers").lstrip(":, "))
        for name, label in labels.items()
        if name != TRANSFERS_TOTAL
    )


def has_budget(names: Mapping[str, object]) -> bool:
    """Whether the metrics include a time budget."""
    return seconds(_TOTAL) in names


def seconds_by_cause(metrics: Iterable[Mapping[str, float | None]]) -> dict[str, float]:
    """Return the seconds of each cause, summed over the runs with a budget.

    Empty if no run has one.
    """
    totals: dict[str, float] = {}
    for run in metrics:
        if has_budget(run):
            for cause in causes():
                totals[cause] = totals.get(cause, 0.0) + (run[seconds(cause)] or 0.0)
    return totals


def budget_frame(metrics: Mapping[str, float | None]) -> pl.DataFrame:
    """Return one row per cause, in order of precedence: ``cause``, ``time_s``, ``share_pct``.

    Raises
    ------
    MissingBudget
        If the metrics have no budget. The message says how to record one.
    """
    import polars as pl

    if not has_budget(metrics):
        raise MissingBudget(
            "the run recorded no time budget: run it again with --budget (in Python: "
            'Scenario.load(file, {"measure.budget": True}))'
        )
    names = causes()
    return pl.DataFrame(
        {
            "cause": list(names),
            "time_s": [metrics[seconds(cause)] for cause in names],
            "share_pct": [metrics[f"budget_{cause}_pct"] for cause in names],
        },
        schema={"cause": pl.String, "time_s": pl.Float64, "share_pct": pl.Float64},
    )
