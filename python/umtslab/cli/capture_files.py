"""Capture files named by CAPTURE: a file, a folder of captures, or a result with captures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from umtslab.cli.failures import UsageError

_SUFFIXES = (".pcap", ".pcapng", ".cap")
_PACKED = (".gz", ".zst", ".lz4")
"""Suffixes of compressed captures, after the suffix of the capture itself."""
_PDUS = re.compile(r"rlc-(downlink|uplink)-\w+\.pcapng(\.(gz|zst|lz4))?")
"""File names of a run's captures of RLC PDUs. They contain no IP packets."""


def captures_of(words: Sequence[str], out: Path) -> tuple[list[Path], list[Path]]:
    """Return the packet captures and the captures of RLC PDUs that `words` name.

    Captures of RLC PDUs contain no TCP.

    Raises
    ------
    UsageError
        If a folder or result has no captures, or all captures are of RLC PDUs.
    """
    found = [capture for word in words for capture in _meant(word, out)]
    packets = [path for path in found if not _PDUS.fullmatch(path.name)]
    pdus = [path for path in found if path not in packets]
    if not packets:
        raise UsageError(f"{pdus[0]} contains RLC PDUs and no TCP: {how_to_open(pdus[0])}")
    return packets, pdus


def how_to_open(path: Path) -> str:
    """Return a command that shows RLC PDUs."""
    import shlex

    return f"wireshark --enable-heuristic rlc_udp {shlex.quote(str(path))}"


def _meant(word: str, out: Path) -> list[Path]:
    """Return the captures that one word names.

    A word that names neither a file nor a result is returned as a path. The reader of captures
    reports it.
    """
    path = Path(word)
    if word == "-" or path.is_file():
        return [path]
    if path.is_dir() and not _is_result(path):
        return _in_folder(path)
    if not path.is_dir() and (_is_named_capture(path) or not _is_result(out)):
        return [path]
    from umtslab.cli.results import find_runs

    captures = [capture for run in find_runs(word, out) for capture in run.captures()]
    if not captures:
        raise UsageError(f"{word} has no captures: run it again with --pcap")
    return captures


def _is_named_capture(path: Path) -> bool:
    """Whether the file has a suffix of captures, compressed or not."""
    name = path.with_suffix("") if path.suffix in _PACKED else path
    return name.suffix in _SUFFIXES


def _is_result(folder: Path) -> bool:
    from umtslab.store.folder import is_run_folder
    from umtslab.store.reader import is_store

    return is_run_folder(folder) or is_store(folder)


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if _is_named_capture(path))
    if not found:
        raise UsageError(
            f"{folder} has no captures: no file name there ends in {', '.join(_SUFFIXES)}, or in one "
            f"of these and {', '.join(_PACKED)}"
        )
    return found
