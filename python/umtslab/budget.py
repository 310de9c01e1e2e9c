"""The time budget: what the time of TCP connections was spent on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_TOTAL = "total"

TRANSFERS_TOTAL = "transfer_budget_total_s"
"""The metric that tells for how long transfers were open that a proxy splits."""


class MissingBudget(LookupError):
    """A time budget was asked for that the run did not record."""


@lru_cache(maxsize=1)
def causes() -> tuple[str, ...]:
    """All causes, in the order of their precedence."""
    from umtslab.metrics import definitions

    names = [entry["name"] for entry in definitions() if entry["scope"] == "budget" and entry["unit"] == "%"]
    return tuple(name.removeprefix("budget_").removesuffix("_pct") for name in names)


def seconds(cause: str) -> str:
    """Name of the metric that tells the seconds of a cause."""
    return f"budget_{cause}_s"


@lru_cache(maxsize=1)
def needed_parts() -> tuple[tuple[str, str], ...]:
    """The parts of ``rto_needed``, metric and words: one for each place and reason of a loss."""
    from umtslab.metrics import definitions

    found = {entry["name"]: entry["label"] for entry in definitions() if entry["scope"] == "budget"}
    return tuple(
        (name, label.removeprefix("Needed RTO ").replace(":", ""))
        for name, label in found.items()
        if name.startswith("budget_rto_needed_after_")
    )


@lru_cache(maxsize=1)
def timeout_counts() -> tuple[tuple[str, str], ...]:
    """The counts of retransmission timeouts of both ends by reason, metric and words."""
    from umtslab.metrics import definitions

    found = {entry["name"]: entry["label"] for entry in definitions() if entry["scope"] == "budget"}
    return tuple((name, label) for name, label in found.items() if "_rtos_" in name)


@lru_cache(maxsize=1)
def transfer_parts() -> tuple[tuple[str, str], ...]:
    """The parts of that time, metric and words: those in the proxy, then those of each leg, by precedence."""
    from umtslab.metrics import definitions

    found = {entry["name"]: entry["label"] for entry in definitions() if entry["scope"] == "transfers"}
    return tuple(
        (name, label.removeprefix("Transfers").lstrip(":, "))
        for name, label in found.items()
        if name != TRANSFERS_TOTAL
    )


def has_budget(names: Mapping[str, object]) -> bool:
    """Whether these metrics have a time budget among them."""
    return seconds(_TOTAL) in names


def summed(metrics: Iterable[Mapping[str, float | None]]) -> dict[str, float]:
    """Seconds by cause, added up over the runs that have a budget; empty if none has."""
    sums: dict[str, float] = {}
    for run in metrics:
        if has_budget(run):
            for cause in causes():
                sums[cause] = sums.get(cause, 0.0) + (run[seconds(cause)] or 0.0)
    return sums


def budget_frame(metrics: Mapping[str, float | None]) -> pl.DataFrame:
    """One row per cause, in the order of precedence: ``cause``, ``time_s``, ``share_pct``.

    Raises
    ------
    MissingBudget
        If these metrics have none; the message says how to record one.
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
