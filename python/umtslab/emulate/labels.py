"""What programs beside the command write, line by line, each with its program's name in front.

They share standard error with the command, so that nobody could tell whose a line is. A process of its own
puts the names there: the emulator, whose clock does not wait, has nothing to do with it.
"""

from __future__ import annotations

import os
import select
import tty
from contextlib import suppress

CHUNK = 65536
"""Octets that are read at once, and of a line: what is longer is cut."""

LAST_CHUNKS = 4
"""Of each program at the end, of what it has written so far: more than a pipe holds."""


class Labels:
    """The outputs of programs. Made before any thread is; `start` ends the making."""

    def __init__(self) -> None:
        self._readers: dict[int, bytes] = {}
        self._writers: list[int] = []
        self._process: int | None = None
        self._wanted = -1

    def writer(self, label: str) -> int:
        """Where a program is to write whose lines begin with `label`.

        On a terminal it is one too, where programs write each line at once; a pipe otherwise.
        """
        reader, writer = os.openpty() if os.isatty(2) else os.pipe()
        if os.isatty(writer):
            tty.setraw(writer)
        self._readers[reader] = label.encode()
        self._writers.append(writer)
        return writer

    def start(self) -> None:
        """Begin to read, once all programs have what they write to."""
        if not self._readers:
            return
        ended, self._wanted = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                for descriptor in (*self._writers, self._wanted):
                    os.close(descriptor)
                _relay([_Output(*found) for found in self._readers.items()], ended)
            finally:
                os._exit(0)
        self._process = process
        for descriptor in (*self._writers, *self._readers, ended):
            os.close(descriptor)

    def finish(self) -> None:
        """Pass on what has been written so far, and no more."""
        if self._process is None:
            return
        os.close(self._wanted)
        # Whoever waits for programs may have waited for this one too.
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        self._process = None


class _Output:
    """Of one program."""

    def __init__(self, reader: int, label: bytes) -> None:
        self.reader = reader
        self.has_ended = False
        self._label = label
        self._begun = b""
        os.set_blocking(reader, False)

    def pass_on(self) -> bool:
        """Write the lines that are there; whether there was anything."""
        try:
            part = os.read(self.reader, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            # A terminal whose other end is closed.
            part = b""
        self.has_ended = not part
        *lines, self._begun = (self._begun + part).split(b"\n")
        for line in lines:
            self._write(line)
        if len(self._begun) >= CHUNK:
            self.end()
        return bool(part)

    def end(self) -> None:
        """Write what has no line end."""
        if self._begun:
            self._write(self._begun)
        self._begun = b""

    def _write(self, line: bytes) -> None:
        # A carriage return begins the line again, as progress bars do: the label is repeated after it.
        shown = line.removesuffix(b"\r").replace(b"\r", b"\r" + self._label + b": ")
        text = self._label + b": " + shown + b"\n"
        # Nobody may be there any more to read it.
        with suppress(OSError):
            while text:
                text = text[os.write(2, text) :]


def _relay(outputs: list[_Output], ended: int) -> None:
    """Pass lines on until `ended` is closed at its other end, and then what is there."""
    is_last = False
    while outputs and not is_last:
        ready, _, _ = select.select([*(output.reader for output in outputs), ended], [], [])
        is_last = ended in ready
        for output in outputs:
            for _ in range(LAST_CHUNKS if is_last else int(output.reader in ready)):
                if not output.pass_on():
                    break
            if is_last or output.has_ended:
                output.end()
        outputs = [output for output in outputs if not output.has_ended]
