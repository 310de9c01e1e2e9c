"""The scenarios of a store as columns: one for each key, a number where the key's values are numbers.

A quantity is in seconds, bit/s or octets, whatever unit it was written in. A key with values of several
kinds, such as ``"off"`` beside ``"300 ms"``, stays text. Tables of which a scenario may have several, such as
``[[ue]]``, are numbered as in ``--set ue.1.bearer=…``; where no scenario has more than one, the number is
left out.
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
"""The columns that tell of which run a row is, in every table."""

_TOLD_OTHERWISE = ("name", "seed", "source", "title", "version")
"""Keys of a scenario that other columns tell, or that decide nothing."""

_MORE = ("result", "version", "events", "duration_s", "command")


@dataclass(frozen=True)
class Wide:
    """A table with one row per run, and which of its columns are parameters."""

    table: pl.DataFrame
    parameters: list[str]

    def differing(self) -> list[str]:
        """The parameters of which the runs have more than one value."""
        return [name for name in self.parameters if self.table[name].n_unique() > 1]


def wide_table(runs: Sequence[Run], scenarios: Sequence[Mapping[str, Any]]) -> Wide:
    """One row per run: who it is, the command that makes it again, every parameter, every metric."""
    import polars as pl

    durations = pl.Series("duration_s", [run.duration_s for run in runs], dtype=pl.Float64)
    commands = pl.Series("command", [run.command for run in runs], dtype=pl.String)
    table = runs_table(runs).with_columns(durations, commands)
    in_front = (*IDENTITY, *_MORE)
    parameters = list(columns(scenarios))
    parts = [table.select(in_front), pl.DataFrame(parameters), table.drop(in_front)]
    whole = pl.concat([part for part in parts if part.width], how="horizontal")
    return Wide(whole, [column.name for column in parameters])


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
    """The keys of scenarios in their order in the alphabet, each with its value in every scenario."""
    return (column(key, values) for key, values in _flat_columns(scenarios))


def _flat_columns(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Dotted keys of scenarios with their value in every scenario, None where one lacks the key."""
    several = {name for scenario in scenarios for name in _several(scenario)}
    flat = [dict(_flat(scenario, several)) for scenario in scenarios]
    for key in sorted({key for one in flat for key in one}):
        yield key, [one.get(key) for one in flat]


def _several(content: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The arrays of tables that have more than one, by their names without numbers."""
    for key, value in content.items():
        name = prefix + key
        tables = [value] if isinstance(value, Mapping) else value if _are_tables(value) else []
        if len(tables) > 1:
            yield name
        for table in tables:
            yield from _several(table, f"{name}.")


def _flat(
    content: Mapping[str, Any], several: Collection[str], plain: str = "", numbered: str = ""
) -> Iterator[tuple[str, Any]]:
    """Dotted keys with their values; the table is called `plain` without numbers, `numbered` with them."""
    for key, value in content.items():
        if not plain and key in _TOLD_OTHERWISE:
            continue
        name = plain + key
        if isinstance(value, Mapping):
            yield from _flat(value, several, f"{name}.", f"{numbered}{key}.")
        elif _are_tables(value):
            for number, table in enumerate(value):
                at = f"{numbered}{key}.{number}." if name in several else f"{numbered}{key}."
                yield from _flat(table, several, f"{name}.", at)
        else:
            yield numbered + key, ", ".join(map(str, value)) if isinstance(value, list) else value


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
