"""Interface of measured results for scoring: points, replications, metrics.

Implemented by `study`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from umtslab.reproduce.counts import Count
from umtslab.reproduce.pdus import PduTemplate
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import Point
from umtslab.reproduce.requests import Requests

if TYPE_CHECKING:
    from umtslab.run import Run

Sample = list[float | None]
"""One value per replication, in the order of runs. None if the run has no value."""


@dataclass(frozen=True)
class Series:
    """A quantity recorded on change. `values[i]` holds from `times_s[i]`."""

    times_s: Sequence[float]
    values: Sequence[float]
    end_s: float


class Results(Protocol):
    """Finished runs of a plan.

    Every method raises `Missing` for a point that was not run or a metric that runs do not have.
    The message names what is missing.
    """

    def points(self) -> Sequence[Point]:
        """Return the points that were run."""

    def sets(self) -> Sequence[Point]:
        """Return the points over which means over parameter sets are taken."""

    def replications(self, point: Point) -> int:
        """Return the number of runs of the point."""

    def metric(self, point: Point, name: str) -> Sample:
        """Return a metric of each run."""

    def connections(self, point: Point, name: str) -> list[Sample]:
        """Return a metric of each connection, per run. Connections are in order of their start."""

    def series(self, point: Point, name: str, user: int | None) -> list[Series]:
        """Return a series per run: of the connection that opened as number `user`, counted from 1.

        If `user` is None, the sum of all connections.
        """

    def counted(self, point: Point, count: Count) -> Sample:
        """Return a number derived from recorded series, per run."""

    def descriptions(self, point: Point, parts: Sequence[PduTemplate]) -> list[str]:
        """Return the description of the RLC PDUs, per run."""

    def answers(self, point: Point, requests: Requests) -> list[str]:
        """Return the answers to DCH requests, per run."""

    def phases(self, point: Point) -> list[list[Phase]]:
        """Return the phases of the first user's transfer, per run."""

    def recorded(self, point: Point) -> Run:
        """Return the first run with its recorded series."""
