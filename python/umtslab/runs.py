"""Lists of runs, with tables and an HTML representation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise_metrics
from umtslab.columns_of_keys import column, unit
from umtslab.export import connections_table, runs_table, series_table
from umtslab.overrides import OverridePairs, changes_text, shared_changes
from umtslab.run import Run

if TYPE_CHECKING:
    import polars as pl

_MAX_NAMES = 3


class Runs(list[Run]):
    """A list of runs of any scenarios."""

    @property
    def changes(self) -> OverridePairs:
        """The overrides that all runs have in common, without keys that only select recordings."""
        return shared_changes(run.changes for run in self)

    def to_frame(self) -> pl.DataFrame:
        """Return one row per run: identity, the overrides that differ between runs, all metrics.

        An overridden quantity is a number in s, bit/s or B. `key_units` returns the units.
        """
        import polars as pl

        shared = dict(self.changes)
        keys = {key: None for run in self for key, value in run.changes if shared.get(key) != value}
        columns = [column(key, [dict(run.changes).get(key) for run in self]) for key in keys]
        return pl.concat([pl.DataFrame(columns), runs_table(self)], how="horizontal")

    def key_units(self) -> dict[str, str]:
        """Return the units of overridden quantities in `to_frame`: ``{"duration": "s"}``."""
        keys = {key: None for run in self for key, _ in run.changes}
        key_units = {key: unit([dict(run.changes).get(key) for run in self]) for key in keys}
        return {key: name for key, name in key_units.items() if name}

    def __repr__(self) -> str:
        """As in ``Runs(3 runs of ftp-on-fach, seed 1, umtslab 0.1.0)``."""
        if not self:
            return "Runs(no runs)"
        count, rest = self._identity().split(", ", 1)
        return f"Runs({count} of {_listed({run.scenario for run in self})}, {rest})"

    def summary(self) -> dict[str, Summary]:
        """Return mean, deviation and 95 % interval of each metric over these runs."""
        return summarise_metrics([run.metrics for run in self])

    def connections(self) -> pl.DataFrame:
        """Return one row per TCP connection of every run, after the run's seed and number."""
        return connections_table(self)

    def series(self, kind: str) -> pl.DataFrame:
        """Return a time series of every run, after the run's seed and number.

        Raises
        ------
        umtslab.run.MissingSeries
            If a run did not record it.
        """
        return series_table(self, kind)

    def _repr_html_(self) -> str:
        from umtslab.notebook import caption, table
        from umtslab.tables import metrics_table

        if not self:
            return caption("no runs")
        rows = metrics_table(self.summary())
        head = caption(_listed({run.scenario for run in self}), changes_text(self.changes), self._identity())
        return head + table(rows)

    def _identity(self) -> str:
        """Describe the number of runs, their seeds and versions."""
        count = "1 run" if len(self) == 1 else f"{len(self)} runs"
        seeds = _listed({str(run.seed) for run in self})
        return f"{count}, seed {seeds}, umtslab {_listed({str(run.identity.code) for run in self})}"


def _listed(names: set[str]) -> str:
    """List the names, or give their number if there are more than three."""
    return ", ".join(sorted(names)) if len(names) <= _MAX_NAMES else f"{len(names)} different"
