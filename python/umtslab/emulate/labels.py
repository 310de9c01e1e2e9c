"""Prefixes of the output of programs beside the command: each line begins with the program's name.

These programs share standard error with the command; the prefix shows which program wrote a line. A
separate process adds the prefixes, because the emulator runs in real time and must not wait for
output.
"""

from __future__ import annotations

import os
import select
import tty
from contextlib import suppress

CHUNK = 65536
"""Maximum bytes of a read. Lines of this length or longer are split."""

LAST_CHUNKS = 4
"""Maximum reads from each program at the end. They cover more than a pipe of the default size
holds."""


class Labels:
    """The outputs of the programs. Call `writer` for each program, then `start`, then `finish`.

    `start` forks, so the process must have a single thread until then.
    """

    def __init__(self) -> None:
        self._readers: dict[int, bytes] = {}
        self._writers: list[int] = []
        self._process: int | None = None
        self._finish_write = -1

    def writer(self, label: str) -> int:
        """Create the output of a program, with `label` before each line. Returns its descriptor.

        If standard error is a terminal, it is a pseudo-terminal, so that programs flush each line.
        Otherwise it is a pipe.
        """
        reader, writer = os.openpty() if os.isatty(2) else os.pipe()
        if os.isatty(writer):
            tty.setraw(writer)
        self._readers[reader] = label.encode()
        self._writers.append(writer)
        return writer

    def start(self) -> None:
        """Start the process that adds the prefixes. Closes the outputs in this process."""
        if not self._readers:
            return
        finished, self._finish_write = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                for descriptor in (*self._writers, self._finish_write):
                    os.close(descriptor)
                _relay([_Output(*reader) for reader in self._readers.items()], finished)
            finally:
                os._exit(0)
        self._process = process
        for descriptor in (*self._writers, *self._readers, finished):
            os.close(descriptor)

    def finish(self) -> None:
        """Pass on what the programs have written until now, and end the process that does so."""
        if self._process is None:
            return
        os.close(self._finish_write)
        # Code that waits for any child may have reaped this process already.
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        self._process = None


class _Output:
    """The output of one program."""

    def __init__(self, reader: int, label: bytes) -> None:
        self.reader = reader
        self.has_ended = False
        self._label = label
        self._partial_line = b""
        os.set_blocking(reader, False)

    def pass_on(self) -> bool:
        """Read once and write the complete lines. Returns whether there was something to read."""
        try:
            part = os.read(self.reader, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            # A pseudo-terminal whose other end is closed reports an error instead of an end of
            # file.
            part = b""
        self.has_ended = not part
        *lines, self._partial_line = (self._partial_line + part).split(b"\n")
        for line in lines:
            self._write(line)
        if len(self._partial_line) >= CHUNK:
            self.end()
        return bool(part)

    def end(self) -> None:
        """Write the incomplete last line."""
        if self._partial_line:
            self._write(self._partial_line)
        self._partial_line = b""

    def _write(self, line: bytes) -> None:
        # Progress bars restart the line with a carriage return: repeat the label after it.
        labelled = line.removesuffix(b"\r").replace(b"\r", b"\r" + self._label + b": ")
        text = self._label + b": " + labelled + b"\n"
        # Standard error may be closed at its other end.
        with suppress(OSError):
            while text:
                text = text[os.write(2, text) :]


def _relay(outputs: list[_Output], finished: int) -> None:
    """Pass on lines until the other end of the pipe `finished` is closed, then the remaining output."""
    is_last = False
    while outputs and not is_last:
        ready, _, _ = select.select([*(output.reader for output in outputs), finished], [], [])
        is_last = finished in ready
        for output in outputs:
            for _ in range(LAST_CHUNKS if is_last else int(output.reader in ready)):
                if not output.pass_on():
                    break
            if is_last or output.has_ended:
                output.end()
        outputs = [output for output in outputs if not output.has_ended]
