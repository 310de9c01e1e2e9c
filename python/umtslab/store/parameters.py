"""Scenarios of a store as columns: one per key, numeric if all values of the key are numbers.

Quantities are in seconds, bit/s or bytes. A key with values of several kinds, such as ``"off"`` and
``"300 ms"``, is text. Arrays of tables, such as ``[[ue]]``, have indices as in ``--set
ue.1.bearer=…``. If no scenario has more than one table, the index is omitted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from umtslab.columns_of_keys import column, unit
from umtslab.export import runs_table

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

IDENTITY = ("key", "scenario", "seed", "run")
"""The columns that identify the run of a row, in every table."""

_OMITTED_KEYS = ("name", "seed", "source", "title", "version")
"""Keys of a scenario that other columns contain, or that have no effect."""

_RUN_COLUMNS = ("result", "version", "events", "duration_s", "command")


@dataclass(frozen=True)
class WideTable:
    """A table with one row per run, and which of its columns are parameters."""

    table: pl.DataFrame
    parameters: list[str]

    def differing(self) -> list[str]:
        """Return the parameters with more than one value."""
        return [name for name in self.parameters if self.table[name].n_unique() > 1]


def wide_table(runs: Sequence[Run], scenarios: Sequence[Mapping[str, Any]]) -> WideTable:
    """Return one row per run: identity, command that repeats it, all parameters, all metrics."""
    import polars as pl

    durations = pl.Series("duration_s", [run.duration_s for run in runs], dtype=pl.Float64)
    commands = pl.Series("command", [run.command for run in runs], dtype=pl.String)
    table = runs_table(runs).with_columns(durations, commands)
    leading = (*IDENTITY, *_RUN_COLUMNS)
    parameters = list(columns(scenarios))
    parts = [table.select(leading), pl.DataFrame(parameters), table.drop(leading)]
    whole = pl.concat([part for part in parts if part.width], how="horizontal")
    return WideTable(whole, [column.name for column in parameters])


def keys_frame(scenarios: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """One row per parameter: its ``name``, the ``unit`` of its numbers, the number of its ``values``.

    The unit is empty for plain numbers and null for texts, true and false.
    """
    import polars as pl

    rows = [
        (key, unit(values), len({str(value) for value in values} - {"None"}))
        for key, values in _flat_columns(scenarios)
    ]
    schema = {"name": pl.String, "unit": pl.String, "values": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def columns(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[pl.Series]:
    """Return the keys of scenarios in alphabetical order, each with its value in every scenario."""
    return (column(key, values) for key, values in _flat_columns(scenarios))


def _flat_columns(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield dotted keys with their value in every scenario, None for a scenario without the key."""
    numbered_arrays = {name for scenario in scenarios for name in _numbered_arrays(scenario)}
    flat_scenarios = [dict(_flat(scenario, numbered_arrays)) for scenario in scenarios]
    for key in sorted({key for scenario in flat_scenarios for key in scenario}):
        yield key, [scenario.get(key) for scenario in flat_scenarios]


def _numbered_arrays(content: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the names of arrays of tables with more than one table, without indices."""
    for key, value in content.items():
        name = prefix + key
        tables = [value] if isinstance(value, Mapping) else value if _are_tables(value) else []
        if len(tables) > 1:
            yield name
        for table in tables:
            yield from _numbered_arrays(table, f"{name}.")


def _flat(
    content: Mapping[str, Any],
    numbered_arrays: Collection[str],
    prefix: str = "",
    numbered_prefix: str = "",
) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys with values.

    Both prefixes are the path to `content`: `prefix` has no indices, as in `numbered_arrays`, and
    `numbered_prefix` has those that the yielded keys contain.
    """
    for key, value in content.items():
        if not prefix and key in _OMITTED_KEYS:
            continue
        name = prefix + key
        if isinstance(value, Mapping):
            yield from _flat(value, numbered_arrays, f"{name}.", f"{numbered_prefix}{key}.")
        elif _are_tables(value):
            for number, table in enumerate(value):
                inner_prefix = (
                    f"{numbered_prefix}{key}.{number}."
                    if name in numbered_arrays
                    else f"{numbered_prefix}{key}."
                )
                yield from _flat(table, numbered_arrays, f"{name}.", inner_prefix)
        else:
            yield numbered_prefix + key, ", ".join(map(str, value)) if isinstance(value, list) else value


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
