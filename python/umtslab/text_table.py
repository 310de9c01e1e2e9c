"""Tables as plain text, with numbers aligned to the right.

In a file or pipe, lines are as long as necessary. On a terminal headings are bold, and texts are
wrapped until the table fits. Words of the first column, the keys, are never split. If the table
then still does not fit, each row becomes a block with one line per cell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from umtslab.terminal_escape import printable, without_escaping

_GAP = "  "
_MIN_COLUMN_WIDTH = 12
"""Minimum width of a column of text."""

_DEFAULT_WIDTH = 80
"""Width of a terminal that does not report one."""


class Table:
    """Rows under headings. A heading that begins with ``>`` marks a column of numbers.

    Control characters in headings and cells are escaped. `right` is for each column whether it is
    aligned to the right.
    """

    def __init__(self, *headings: str) -> None:
        self.right = [heading.startswith(">") for heading in headings]
        self.headings = [printable(heading.removeprefix(">")) for heading in headings]
        self.rows: list[tuple[str, ...]] = []

    def add_row(self, *cells: str) -> None:
        """Append a row with one cell per heading."""
        if len(cells) != len(self.headings):
            raise ValueError(f"{len(self.headings)} columns, and {len(cells)} cells")
        self.rows.append(tuple(map(printable, cells)))

    def lines(self, width: int | None = None, *, bold: bool = False) -> Iterator[str]:
        """Yield lines of at most `width` characters, unless a single word is longer."""
        widths = self._widths(width)
        if width is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
            yield from self._blocks(width, bold=bold)
            return
        for line in self._row_lines(self.headings, widths):
            yield _bold(line) if bold else line
        for row in self.rows:
            yield from self._row_lines(row, widths)

    def _widths(self, width: int | None) -> list[int]:
        """Return the width of each column, reduced if the table has to fit into `width`."""
        widths = [
            max(_longest(text.split("\n")) for text in column)
            for column in zip(self.headings, *self.rows, strict=True)
        ]
        if width is None:
            return widths
        available = width - len(_GAP) * (len(widths) - 1)
        for keep_words in (True, False):
            minimums = [
                self._min_width(column, current, keep_words=keep_words)
                for column, current in enumerate(widths)
            ]
            while sum(widths) > available:
                reducible = [column for column, current in enumerate(widths) if current > minimums[column]]
                if not reducible:
                    break
                widths[max(reducible, key=lambda column: widths[column])] -= 1
        return widths

    def _min_width(self, column: int, current: int, *, keep_words: bool) -> int:
        """Return the minimum width of a column. Numbers are not wrapped, but their headings are.

        With `keep_words`, words of texts are not split. In the first column they never are.
        """
        if self.right[column]:
            return max((len(row[column]) for row in self.rows), default=current)
        has_whole_words = keep_words or column == 0
        words = [word for row in self.rows for word in row[column].split()] if has_whole_words else []
        return min(current, max(_MIN_COLUMN_WIDTH, _longest(words or [""])))

    def _blocks(self, width: int, *, bold: bool) -> Iterator[str]:
        """Yield the rows one below the other: the first cell, then the other cells with their headings."""
        indent = len(_GAP) + _longest(self.headings[1:]) + len(_GAP)
        for first, *others in self.rows:
            if first:
                yield _bold(first) if bold else first
            for name, cell in zip(self.headings[1:], others, strict=True):
                lines = _wrap(cell, max(width - indent, _MIN_COLUMN_WIDTH)) if cell else ()
                for index, line in enumerate(lines):
                    yield f"{_GAP}{'' if index else name}".ljust(indent) + line

    def _row_lines(self, cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
        """Yield the lines of a row. The cell with the most lines determines their number."""
        parts = [_wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
        for number in range(max(map(len, parts))):
            texts = [part[number] if number < len(part) else "" for part in parts]
            aligned = (
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(texts, widths, self.right, strict=True)
            )
            yield _GAP.join(aligned).rstrip()


def show(table: Table, file: TextIO | None = None) -> None:
    """Print a table on standard output, or into `file`."""
    out = sys.stdout if file is None else file
    terminal = is_terminal(out)
    for line in table.lines(terminal_width(out) if terminal else None, bold=terminal):
        print(line, file=without_escaping(out))


def heading(text: str, file: TextIO | None = None) -> None:
    """Print a line, in bold if standard output, or `file`, is a terminal."""
    out = sys.stdout if file is None else file
    text = printable(text)
    print(_bold(text) if is_terminal(out) else text, file=without_escaping(out))


def is_terminal(file: TextIO) -> bool:
    """Whether `file` is a terminal that supports escape sequences."""
    return file.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width(file: TextIO) -> int:
    """Return the width of the terminal in characters.

    The environment variable COLUMNS takes precedence.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(file.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if text else text


def _wrap(text: str, width: int) -> list[str]:
    """Split a text into lines of at most `width` characters, inside words only if necessary."""
    if len(text) <= width and "\n" not in text:
        return [text]
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            joined = f"{line} {word}" if line else word
            if len(joined) <= width:
                line = joined
                continue
            if line:
                lines.append(line)
            *full_lines, line = [word[start : start + width] for start in range(0, len(word), width)]
            lines += full_lines
        lines.append(line)
    return lines


def _longest(texts: Sequence[str]) -> int:
    return max(map(len, texts))
