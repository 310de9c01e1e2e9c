"""What reaches a terminal: texts of files with nothing in them that a terminal obeys.

Titles, sources, names, comments of captures and whatever a message quotes come from files that anybody may
have written. `guarded` puts a guard in front of standard output and standard error, for all that is printed
while it lasts; what draws on the terminal itself goes past it, by `own`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but newline and tab; what begins a line or turns the order of letters round."""


def printable(text: str) -> str:
    r"""The text with ``\u001b`` in place of such a character, which in JSON means the same."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Guard:
    """A stream of text that lets nothing through which a terminal obeys; in all else the stream behind it."""

    def __init__(self, stream: TextIO) -> None:
        self.behind = stream

    def write(self, text: str) -> int:
        """Write it, made printable."""
        self.behind.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write them one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Have a guard in front of standard output and standard error."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", Guard(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def own(stream: TextIO) -> TextIO:
    """The stream for what is drawn on it: texts of files in that are made printable before."""
    return stream.behind if isinstance(stream, Guard) else stream


def write_data(data: bytes) -> None:
    """Write a table in a format of its own on standard output: as it is, but for a terminal.

    A notebook's standard output takes text and no octets; what it gets is made printable, too.
    """
    out = own(sys.stdout)
    if out.isatty() or not hasattr(out, "buffer"):
        out.write(printable(data.decode(errors="replace")))
    else:
        out.flush()
        out.buffer.write(data)
