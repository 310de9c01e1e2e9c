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

from umtslab.export import runs_table
from umtslab.quantity import quantity

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


def columns(scenarios: Sequence[Mapping[str, Any]]) -> Iterator[pl.Series]:
    """The keys of scenarios in their order in the alphabet, each with its value in every scenario."""
    several = {name for scenario in scenarios for name in _several(scenario)}
    flat = [dict(_flat(scenario, several)) for scenario in scenarios]
    for key in sorted({key for one in flat for key in one}):
        yield _column(key, [one.get(key) for one in flat])


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


def _column(key: str, values: Sequence[Any]) -> pl.Series:
    """The values of a key in one type, null where a scenario lacks it."""
    import polars as pl

    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        return pl.Series(key, values, dtype=pl.Boolean)
    found = [quantity(value) for value in known]
    if None not in found and len({one.kind for one in found if one is not None}) == 1:
        whole = all(isinstance(value, int) for value in known)
        numbers = [None if (one := quantity(value)) is None else one.base for value in values]
        return pl.Series(key, numbers, dtype=pl.Float64).cast(pl.Int64 if whole else pl.Float64)
    return pl.Series(key, [None if value is None else str(value) for value in values], dtype=pl.String)
