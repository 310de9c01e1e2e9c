"""Entries of a reference (keys or metrics): search, and output as blocks or as a table."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from umtslab.terminal_escape import printable, without_escaping
from umtslab.text_table import Table, heading, is_terminal, show, terminal_width

MAX_BLOCKS = 12
"""More entries than this are printed as a table with their most important columns."""

FILE_WIDTH = 80
"""Width of blocks in a file or pipe, in characters."""

_INDENT = "    "

Entry = Mapping[str, str]


def entries_described_by(entries: Sequence[Entry], word: str, columns: Sequence[str]) -> list[Entry]:
    """Return the entries with a word in their description that begins with `word`.

    If there are none, returns the entries whose description contains `word` anywhere.
    """
    texts = [" ".join(entry[column] for column in columns) for entry in entries]
    # Not after a letter or a digit. After an underscore a word begins.
    word_start = re.compile(rf"(?<![^\W_]){re.escape(word)}", re.IGNORECASE)
    matching = [entry for entry, text in zip(entries, texts, strict=True) if word_start.search(text)]
    return matching or [
        entry for entry, text in zip(entries, texts, strict=True) if word.lower() in text.lower()
    ]


def print_entries(entries: Sequence[Entry], name: str, table_columns: Sequence[str], *, text: str) -> None:
    """Print few entries in full, many as a table.

    Parameters
    ----------
    entries : sequence of mapping
        The entries, all with the same columns.
    name : str
        The column with the name.
    table_columns : sequence of str
        The columns of the table of many entries, after the name.
    text : str
        The column with the description, which comes first in a block.
    """
    if len(entries) > MAX_BLOCKS:
        table = Table(name, *table_columns)
        for entry in entries:
            table.add_row(entry[name], *(entry[column] for column in table_columns))
        show(table)
        return
    width = terminal_width(sys.stdout) if is_terminal(sys.stdout) else FILE_WIDTH
    for number, entry in enumerate(entries):
        if number:
            print(file=without_escaping(sys.stdout))
        heading(f"{entry[name]}  {entry['label']}")
        for line in block(entry, name, text, width):
            print(printable(line), file=without_escaping(sys.stdout))


def block(entry: Entry, name: str, text: str, width: int) -> Iterator[str]:
    """Yield the lines of an entry below its name: the description, then each column that is not empty."""
    yield from _wrapped(entry[text], _INDENT, _INDENT, width)
    columns = [key for key, value in entry.items() if value and key not in (name, text, "label", "choices")]
    rows = [(column, entry[column]) for column in columns]
    for line in entry.get("choices", "").splitlines():
        choice, _, meaning = line.partition(": ")
        rows.append((choice, meaning))
    indent = max((len(row_name) for row_name, _ in rows), default=0) + 2
    for row_name, value in rows:
        yield from _wrapped(value, f"{_INDENT}{row_name.ljust(indent)}", _INDENT + " " * indent, width)


def _wrapped(text: str, first_indent: str, next_indent: str, width: int) -> list[str]:
    """Wrap a text into lines of at most `width` characters. Words longer than a line stay whole."""
    line_width = max(width, len(next_indent) + 20)
    return wrap(
        text,
        line_width,
        initial_indent=first_indent,
        subsequent_indent=next_indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first_indent.rstrip()]
