"""Values of a scenario key as a column. Quantities of one kind become numbers in one unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.quantity import BASE_UNITS, quantity

if TYPE_CHECKING:
    import polars as pl


def column(key: str, values: Sequence[Any]) -> pl.Series:
    """Return the values in one type, null for None. Quantities are in s, bit/s or bytes."""
    import polars as pl

    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return pl.Series(key, values, dtype=pl.Boolean)
    if _kind(present) is not None:
        numbers = [None if (parsed := quantity(value)) is None else parsed.base for value in values]
        return pl.Series(key, numbers, dtype=pl.Float64).cast(pl.Int64 if _are_whole(present) else pl.Float64)
    return pl.Series(key, [None if value is None else str(value) for value in values], dtype=pl.String)


def with_numbers(table: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Return the table with the text columns of `keys` as numbers in s, bit/s or B.

    A column is left unchanged unless all its values are quantities of one kind.
    """
    import polars as pl

    texts = [key for key in keys if key in table.columns and table.schema[key] == pl.String]
    return table.with_columns(column(key, table[key].to_list()) for key in texts)


def unit(values: Sequence[Any]) -> str | None:
    """Return the unit of the column's numbers, empty for plain numbers.

    None for a column of another type.
    """
    kind = _kind([value for value in values if value is not None])
    return None if kind is None else BASE_UNITS.get(kind, kind)


def _are_whole(present: Sequence[Any]) -> bool:
    """Whether all values are integers that fit into 64 bits."""
    # A quantity with a unit, as in "5 s", is not an integer.
    return all(
        (isinstance(value, int) or str(value).lstrip("-").isdecimal()) and abs(float(value)) < 2**63
        for value in present
    )


def _kind(present: Sequence[Any]) -> str | None:
    """Return the kind of quantity (`Quantity.kind`) that all values have, or None."""
    quantities = [quantity(value) for value in present]
    kinds = {None if parsed is None else parsed.kind for parsed in quantities}
    return kinds.pop() if len(kinds) == 1 else None
