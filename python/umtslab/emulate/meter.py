"""The live meter: one line on standard error, if that is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from umtslab.terminal_escape import without_escaping

DEFAULT_COLUMNS = 80
"""Width of a terminal that does not report one."""


def line_of(reading: Mapping[str, Any], columns: int) -> str:
    """Format a reading as a line of at most `columns` characters. Parts that do not fit are omitted.

    The round-trip time is measured from the programs' own packets: TCP segments and their acknowledgments,
    echoes and their replies.
    """
    rtt = reading.get("rtt_s")
    state = reading.get("state", "")
    if "towards" in reading:
        state = f"{state}→{reading['towards']}"
    parts = [
        f"{reading['at_s']:.1f} s",
        state,
        f"↓ {reading['down_bps'] / 1000:.1f} ↑ {reading['up_bps'] / 1000:.1f} kbit/s",
        f"buffer ↓ {reading['buffer_down'] / 1000:.1f} ↑ {reading['buffer_up'] / 1000:.1f} kB",
        f"RTT {'–' if rtt is None else f'{1000 * rtt:.0f} ms'}",
        f"RLC {1000 * reading['rlc_delay_s']:.0f} ms" if "rlc_delay_s" in reading else "",
    ]
    line = ""
    for part in filter(None, parts):
        longer = f"{line}  {part}" if line else part
        if len(longer) > columns:
            break
        line = longer
    return line


class Meter:
    """Shows readings on a terminal, each instead of the previous one. Shows nothing in a file."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown and sys.stderr.isatty()
        self._drawn = False
        self._rtt_s: float | None = None

    def show(self, reading: Mapping[str, Any]) -> None:
        """Show a reading. A round-trip time is shown until the next one."""
        if not self._shown:
            return
        self._rtt_s = reading.get("rtt_s", self._rtt_s)
        reading = {**reading, "rtt_s": self._rtt_s}
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_COLUMNS
        except OSError:
            columns = DEFAULT_COLUMNS
        # The last column stays empty, because a cursor there may wrap.
        self._write(f"\r{line_of(reading, columns - 1)}\x1b[K")
        self._drawn = self._shown

    def print_problem(self, text: str) -> None:
        """Print a problem of the emulation on a separate line, even if no readings are shown."""
        self._write(self._erase_sequence())
        with suppress(OSError):
            print(f"umts: {text}", file=sys.stderr, flush=True)

    def _erase_sequence(self) -> str:
        """Return the escape sequence that erases the last reading."""
        return "\r\x1b[K" if self._drawn else ""

    def _write(self, text: str) -> None:
        """Write to the terminal. If it is gone, nothing more is shown."""
        try:
            without_escaping(sys.stderr).write(text)
            sys.stderr.flush()
        except OSError:
            self._shown = False

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write(self._erase_sequence())
