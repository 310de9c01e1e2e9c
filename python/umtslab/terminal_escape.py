"""Protection of terminals against control characters in texts from files.

Titles, sources, names, comments of captures and quoted texts come from files that anyone may have
written. `escape_output` replaces standard output and standard error by streams that escape control
characters. Code that writes escape sequences itself gets the stream behind them from `without_escaping`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters except newline and tab, line separators, and changes of the text direction."""


def printable(text: str) -> str:
    r"""Replace control characters by escapes like ``\u001b``, which are equivalent in JSON."""
    return _CONTROL_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class EscapingStream:
    """A text stream that escapes control characters and writes into another stream.

    Its other attributes are those of the other stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self.original = stream

    def write(self, text: str) -> int:
        """Write the text with control characters escaped."""
        self.original.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines with control characters escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


@contextmanager
def escape_output() -> Iterator[None]:
    """Escape control characters on standard output and standard error during the block."""
    originals = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", EscapingStream(stream)) for stream in originals)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = originals


def without_escaping(stream: TextIO) -> TextIO:
    """Return the stream without escaping. The caller must escape texts from files (`printable`)."""
    return stream.original if isinstance(stream, EscapingStream) else stream


def write_data(data: bytes) -> None:
    """Write binary data on standard output. On a terminal they are decoded and escaped.

    The standard output of a notebook accepts only text, so it gets decoded and escaped text too.
    """
    out = without_escaping(sys.stdout)
    if out.isatty() or not hasattr(out, "buffer"):
        out.write(printable(data.decode(errors="replace")))
    else:
        out.flush()
        out.buffer.write(data)
