"""Finds a number in the output of a command, by the words of the row and the heading of the column."""

from __future__ import annotations

import re

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def number_in(printed: str, row: tuple[str, ...], column: str) -> float:
    """Return the number in the row that has all these words, below the heading `column`.

    A text of several words stands for neighbouring cells.

    Without a column it is the first number after the words. In a line of ``umts reproduce`` it is
    the number after "ours".

    Raises
    ------
    AssertionError
        If no row, or no column, is found.
    """
    heading = ""
    for line in printed.splitlines():
        if column and _span(line, column) is not None:
            heading = line
        elif all(_has(line, word) for word in row) and (not column or heading):
            return _value(line, row, heading, column)
    raise AssertionError(f"no row with {', '.join(row)} under {column or 'any heading'} in\n{printed}")


def _value(line: str, row: tuple[str, ...], heading: str, column: str) -> float:
    """Return the number in a line that `number_in` has found."""
    if column:
        span = _span(heading, column)
        assert span is not None, "the heading has the column"
        text = line[: span[1]].split()[-1]
    elif "; ours " in line:
        text = line.partition("; ours ")[2].split()[0]
    else:
        words = NUMBER.findall(line[line.index(row[-1]) + len(row[-1]) :])
        assert words, f"no number in {line!r}"
        text = words[0]
    return float(text.replace(",", ""))


def _span(line: str, column: str) -> tuple[int, int] | None:
    """Return start and end of a column's name in a heading. Numbers are aligned with its end."""
    match = re.search(rf"(?:^|\s\s|^\s*){re.escape(column)}(?: \([^)]*\))?(?=\s\s|$)", line)
    return None if match is None else match.span()


def _has(line: str, word: str) -> bool:
    """Whether the line has the word, or the words in this order, delimited by spaces."""
    words = r"\s+".join(map(re.escape, word.split()))
    return re.search(rf"(?:^|\s){words}(?:\s|$)", line) is not None
