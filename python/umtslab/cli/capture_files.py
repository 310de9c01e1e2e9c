"""Capture files named by CAPTURE: a file, a folder of captures, or a result with captures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from umtslab.cli.failures import UsageError

_SUFFIXES = (".pcap", ".pcapng", ".cap")
_COMPRESSED = (".gz", ".zst", ".lz4")
"""Suffixes of compressed captures, after the suffix of the capture itself."""
_PDUS = re.compile(r"(iub|rlc-(downlink|uplink)-\w+)\.pcapng(\.(gz|zst|lz4))?")
"""File names of a run's captures of RLC PDUs and of the Iub. They contain no IP packets."""


def captures_of(arguments: Sequence[str], out: Path) -> tuple[list[Path], list[Path]]:
    """Return the packet captures, and the captures of RLC PDUs and of the Iub, that arguments name.

    Captures of RLC PDUs and of the Iub contain no TCP.

    Raises
    ------
    UsageError
        If a folder or result has no captures, or none with IP packets.
    """
    captures = [capture for argument in arguments for capture in _captures_of_argument(argument, out)]
    packets = [path for path in captures if not _PDUS.fullmatch(path.name)]
    pdus = [path for path in captures if path not in packets]
    if not packets:
        content = "frames of the Iub" if _is_of_iub(pdus[0]) else "RLC PDUs"
        raise UsageError(f"{pdus[0]} contains {content} and no TCP: {command_for_pdus(pdus[0])}")
    return packets, pdus


def _is_of_iub(path: Path) -> bool:
    return path.name.startswith("iub")


def command_for_pdus(path: Path) -> str:
    """Return a command that shows RLC PDUs or frames of the Iub."""
    import shlex

    options = "-o fp.call_mac:FALSE" if _is_of_iub(path) else "--enable-heuristic rlc_udp"
    return f"wireshark {options} {shlex.quote(str(path))}"


def _captures_of_argument(argument: str, out: Path) -> list[Path]:
    """Return the captures that one argument names.

    An argument that names neither a file nor a result is returned as a path, and the reader of
    captures reports the error.
    """
    path = Path(argument)
    if argument == "-" or path.is_file():
        return [path]
    if path.is_dir() and not _is_result(path):
        return _in_folder(path)
    if not path.is_dir() and (_has_capture_suffix(path) or not _is_result(out)):
        return [path]
    from umtslab.cli.results import find_runs

    captures = [capture for run in find_runs(argument, out) for capture in run.captures()]
    if not captures:
        raise UsageError(f"{argument} has no captures: run it again with --pcap")
    return captures


def _has_capture_suffix(path: Path) -> bool:
    """Whether the file has a suffix of captures, compressed or not."""
    name = path.with_suffix("") if path.suffix in _COMPRESSED else path
    return name.suffix in _SUFFIXES


def _is_result(folder: Path) -> bool:
    """Whether a folder is a run or a store."""
    from umtslab.store.folder import is_run_folder
    from umtslab.store.reader import is_store

    return is_run_folder(folder) or is_store(folder)


def _in_folder(folder: Path) -> list[Path]:
    """Return the captures in a folder; none is an error."""
    captures = sorted(path for path in folder.iterdir() if _has_capture_suffix(path))
    if not captures:
        raise UsageError(
            f"{folder} has no captures: no file name there ends in {', '.join(_SUFFIXES)}, or in one "
            f"of these and {', '.join(_COMPRESSED)}"
        )
    return captures
