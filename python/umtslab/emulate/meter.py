"""The live meter: one line on standard error, as long as somebody looks."""

from __future__ import annotations

import sys
from types import TracebackType


class Meter:
    """Shows readings on a terminal, each over the one before; shows nothing in a file."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown and sys.stderr.isatty()
        self._drawn = False

    def show(
        self, at_s: float, down_bps: float, up_bps: float, down: int, up: int, delay_s: float | None
    ) -> None:
        """Show a reading."""
        if not self._shown:
            return
        delay = "   – " if delay_s is None else f"{1000 * delay_s:5.0f}"
        line = (
            f"{at_s:7.1f} s  ↓ {down_bps / 1000:7.1f} kbit/s  ↑ {up_bps / 1000:7.1f} kbit/s  "
            f"RLC buffer ↓ {down / 1000:6.1f} kB  ↑ {up / 1000:6.1f} kB  RLC delay {delay} ms"
        )
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()
        self._drawn = True

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
