"""Protection of terminals against control characters in texts from files.

Titles, sources, names, comments of captures and quoted texts come from files that anyone may have
written. `guarded` replaces standard output and standard error by streams that escape control
characters. Code that draws on the terminal itself bypasses them by `own`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters except newline and tab, line separators, and changes of the text direction."""


def printable(text: str) -> str:
    r"""Replace control characters by escapes like ``\u001b``, which are equivalent in JSON."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Guard:
    """A text stream that escapes control characters.

    Otherwise it behaves like the stream behind it.
    """

    def __init__(self, stream: TextIO) -> None:
        self.behind = stream

    def write(self, text: str) -> int:
        """Write the text with control characters escaped."""
        self.behind.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines with control characters escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Guard standard output and standard error during the block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", Guard(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def own(stream: TextIO) -> TextIO:
    """Return the unguarded stream. The caller must escape texts from files (`printable`)."""
    return stream.behind if isinstance(stream, Guard) else stream


def write_data(data: bytes) -> None:
    """Write binary data on standard output. On a terminal they are decoded and escaped.

    The standard output of a notebook accepts only text, so it gets decoded and escaped text too.
    """
    out = own(sys.stdout)
    if out.isatty() or not hasattr(out, "buffer"):
        out.write(printable(data.decode(errors="replace")))
    else:
        out.flush()
        out.buffer.write(data)
