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

from umtslab.terminal_escape import own, printable

_GAP = "  "
_NARROWEST = 12
"""Minimum width of a column of text."""

_USUAL_WIDTH = 80
"""Width of a terminal that does not report one."""


class Table:
    """Rows under headings. A heading that begins with ``>`` marks a column of numbers.

    Control characters in headings and cells are escaped.
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
        for line in self._folded(self.headings, widths):
            yield _bold(line) if bold else line
        for row in self.rows:
            yield from self._folded(row, widths)

    def _widths(self, width: int | None) -> list[int]:
        """Return the width of each column, reduced if the table has to fit into `width`."""
        needed = [
            max(_longest(text.split("\n")) for text in column)
            for column in zip(self.headings, *self.rows, strict=True)
        ]
        if width is None:
            return needed
        room = width - len(_GAP) * (len(needed) - 1)
        for words_whole in (True, False):
            least = [self._least(column, wide, words_whole=words_whole) for column, wide in enumerate(needed)]
            while sum(needed) > room:
                foldable = [column for column, wide in enumerate(needed) if wide > least[column]]
                if not foldable:
                    break
                needed[max(foldable, key=lambda column: needed[column])] -= 1
        return needed

    def _least(self, column: int, needed: int, *, words_whole: bool) -> int:
        """Return the minimum width of a column. Numbers are not wrapped, but their headings are.

        With `words_whole`, words of texts are not split, and in the first column they never are.
        """
        if self.right[column]:
            return max((len(row[column]) for row in self.rows), default=needed)
        stays_whole = words_whole or column == 0
        words = [word for row in self.rows for word in row[column].split()] if stays_whole else []
        return min(needed, max(_NARROWEST, _longest(words or [""])))

    def _blocks(self, width: int, *, bold: bool) -> Iterator[str]:
        """Yield the rows one below the other: the first cell, then the other cells with their headings."""
        indent = len(_GAP) + _longest(self.headings[1:]) + len(_GAP)
        for first, *others in self.rows:
            if first:
                yield _bold(first) if bold else first
            for name, cell in zip(self.headings[1:], others, strict=True):
                for at, line in enumerate(_fold(cell, max(width - indent, _NARROWEST)) if cell else ()):
                    yield f"{_GAP}{'' if at else name}".ljust(indent) + line

    def _folded(self, cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
        """Yield the lines of a row. The cell with the most lines determines their number."""
        parts = [_fold(cell, width) for cell, width in zip(cells, widths, strict=True)]
        for number in range(max(map(len, parts))):
            texts = [part[number] if number < len(part) else "" for part in parts]
            placed = (
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(texts, widths, self.right, strict=True)
            )
            yield _GAP.join(placed).rstrip()


def show(table: Table, file: TextIO | None = None) -> None:
    """Print a table on standard output, or into `file`."""
    out = sys.stdout if file is None else file
    terminal = is_terminal(out)
    for line in table.lines(terminal_width(out) if terminal else None, bold=terminal):
        print(line, file=own(out))


def heading(text: str, file: TextIO | None = None) -> None:
    """Print a line, in bold if standard output, or `file`, is a terminal."""
    out = sys.stdout if file is None else file
    text = printable(text)
    print(_bold(text) if is_terminal(out) else text, file=own(out))


def is_terminal(file: TextIO) -> bool:
    """Whether `file` is a terminal that supports escape sequences."""
    return file.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width(file: TextIO) -> int:
    """Return the width of the terminal in characters.

    The environment variable COLUMNS takes precedence.
    """
    typed = os.environ.get("COLUMNS", "")
    if typed.isdecimal() and int(typed) > 0:
        return int(typed)
    try:
        return os.get_terminal_size(file.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if text else text


def _fold(text: str, width: int) -> list[str]:
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
            *whole, line = [word[at : at + width] for at in range(0, len(word), width)]
            lines += whole
        lines.append(line)
    return lines


def _longest(texts: Sequence[str]) -> int:
    return max(map(len, texts))
