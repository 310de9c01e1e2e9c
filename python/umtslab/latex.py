r"""LaTeX tables with ``booktabs`` and ``siunitx``. The interval decides the digits of a mean.

A mean is written as ``\num{50.24 \pm 0.02}``. siunitx prints it as 50.24 ± 0.02 with
``separate-uncertainty``, else as 50.24(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.labels import key_label, metric_label
from umtslab.numbers import NO_NUMBER, estimate

if TYPE_CHECKING:
    import polars as pl

PREAMBLE = r"% needs \usepackage{booktabs} and \usepackage[separate-uncertainty = true]{siunitx}"

MISSING = "--"
"""Cell of a number that is not known."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escape(text: str) -> str:
    """Escape the special characters of LaTeX."""
    return "".join(_SPECIAL.get(character, character) for character in text)


@dataclass(frozen=True)
class LatexTable:
    """A table with cells in LaTeX. `kinds` has the column type of each column, as in ``llr``.

    `spanning` is an optional heading above several columns: its text, first and last column,
    counted from 1.
    """

    kinds: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    spanning: tuple[str, int, int] | None = None

    def __str__(self) -> str:
        lines = [r"\begin{table}", PREAMBLE, r"\centering"]
        if self.caption:
            lines.append(rf"\caption{{{escape(self.caption)}}}")
        lines += [rf"\begin{{tabular}}{{{self.kinds}}}", r"\toprule"]
        if self.spanning is not None:
            text, first, last = self.spanning
            cell = rf"\multicolumn{{{last - first + 1}}}{{c}}{{{text}}}"
            lines += [_row([*[""] * (first - 1), cell]), rf"\cmidrule(lr){{{first}-{last}}}"]
        lines += [_row(self.headings), r"\midrule", *(_row(row) for row in self.rows)]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        return "\n".join(lines) + "\n"


def to_latex(table: pl.DataFrame, *, caption: str = "") -> str:
    """Write any table, with numbers to five significant digits."""
    kinds = "".join("r" if dtype.is_numeric() else "l" for dtype in table.dtypes)
    rows = [[_cell(value) for value in row] for row in table.iter_rows()]
    headings = [escape(name) for name in table.columns]
    return str(LatexTable(kinds=kinds, headings=headings, rows=rows, caption=caption))


def summary_to_latex(table: pl.DataFrame, *, caption: str = "") -> str:
    """Write means of metrics with their intervals. Metrics without a value are left out.

    The columns before ``metric`` are the parameters of a campaign.
    """
    keys = table.columns[: table.columns.index("metric")]
    rows = []
    for row in table.filter(table["n"] > 0).iter_rows(named=True):
        parameters = [_cell(row[key]) for key in keys]
        label = escape(metric_label(row["metric"]))
        rows.append(
            [*parameters, label, escape(row["unit"]), str(row["n"]), mean(row["mean"], row["ci95"], row["n"])]
        )
    kinds = "".join("r" if table[key].dtype.is_numeric() else "l" for key in keys) + "llrr"
    headings = [
        *(escape(key_label(key)) for key in keys),
        "metric",
        "unit",
        "$n$",
        r"mean and 95\,\% interval",
    ]
    return str(LatexTable(kinds=kinds, headings=headings, rows=rows, caption=caption))


def mean(value: float | None, half_width: float | None, n: int | None = None) -> str:
    """Write a mean with its interval for siunitx. Without an interval, writes the mean alone.

    An interval of width 0 over too few equal values (`n`) is left out, see `estimate`.
    """
    mean_text, interval_text = estimate(value, half_width, n)
    if mean_text == NO_NUMBER:
        return MISSING
    if not interval_text[0].isdigit():
        return rf"\num{{{mean_text}}}"
    if "e" not in mean_text:
        return rf"\num{{{mean_text} \pm {interval_text}}}"
    digits, _, exponent = mean_text.partition("e")
    return rf"\num{{{digits} \pm {interval_text.partition('e')[0]} e{int(exponent)}}}"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(value: object) -> str:
    if value is None:
        return MISSING
    if isinstance(value, float):
        return _number(value)
    return escape(str(value))


def _number(value: float) -> str:
    if not math.isfinite(value):
        return MISSING
    text = f"{value:.5g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return rf"${mantissa} \times 10^{{{int(exponent)}}}$"
