"""What was measured, as the scoring sees it: points, replications, metrics. `study` gets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from umtslab.reproduce.counts import Count
from umtslab.reproduce.pdus import Part
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import Point
from umtslab.reproduce.requests import Requests

if TYPE_CHECKING:
    from umtslab.run import Run

Sample = list[float | None]
"""One value for each replication, in the order of the runs; None where the run has no such value."""


@dataclass(frozen=True)
class Series:
    """A quantity recorded on change: from `times_s[i]` on it is `values[i]`."""

    times_s: Sequence[float]
    values: Sequence[float]
    end_s: float


class Results(Protocol):
    """Finished runs of a plan.

    Every method raises `Missing`, naming what is missing, for a point that was not run or a metric that runs
    do not have.
    """

    def points(self) -> Sequence[Point]:
        """The points that were run."""

    def sets(self) -> Sequence[Point]:
        """Those of them that means over all sets of parameters are taken over."""

    def replications(self, point: Point) -> int:
        """How many runs the point has."""

    def metric(self, point: Point, name: str) -> Sample:
        """A metric of the whole run."""

    def connections(self, point: Point, name: str) -> list[Sample]:
        """A metric of each connection, by run; connections in the order in which they began."""

    def series(self, point: Point, name: str, user: int | None) -> list[Series]:
        """A series of one user's connection (users are numbered from 1), or of all added up, by run."""

    def counted(self, point: Point, count: Count) -> Sample:
        """A number taken from what each run recorded."""

    def told(self, point: Point, parts: Sequence[Part]) -> list[str]:
        """What the RLC PDUs of each run say."""

    def answers(self, point: Point, requests: Requests) -> list[str]:
        """What became of requests for a DCH in each run."""

    def phases(self, point: Point) -> list[list[Phase]]:
        """The phases of the first user's transfer in each run."""

    def recorded(self, point: Point) -> Run:
        """The first run, with what it recorded."""
