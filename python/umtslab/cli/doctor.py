"""``umts doctor``: installed and missing components, and damage in a results folder."""

from __future__ import annotations

import json as json_text
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_flag, add_json
from umtslab.extras import EXTRAS, how_to_install

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser

_LIBRARIES = ("polars", "duckdb", "numpy", "matplotlib", "shtab")


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts doctor``."""
    parser.explain(
        "With a results folder, checks every file in it against its digest and names damaged files. "
        "Exit status: 0 no damage, or repaired; 1 damage found; 2 wrong usage."
    )
    parser.add_argument("store", type=Path, nargs="?", metavar="FOLDER", help="Results folder to check.")
    add_flag(
        parser,
        "--repair",
        "Move damaged files of FOLDER to FOLDER/damaged and rebuild a damaged catalogue. Nothing is "
        "deleted; the original commands create the moved runs again.",
    )
    add_flag(
        parser,
        "--clean",
        "Undo only the changes to this host that emulations with --internet and transparent proxies "
        "left when they were killed.",
    )
    add_json(parser, "one JSON list (with FOLDER one object)")


def doctor(store: Path | None, *, repair: bool, clean: bool, json: bool) -> int:
    """Print versions and available features, or check a results folder.

    `options` declares the arguments.
    """
    if store is not None:
        from umtslab.cli.store_doctor import check_store

        return check_store(store, repair=repair, json=json)
    if repair:
        raise UsageError("--repair needs a results folder: umts doctor FOLDER --repair")
    if clean:
        if sys.platform != "linux":
            raise UsageError(
                f"--clean undoes changes of emulations, which need Linux; this is {sys.platform}"
            )
        from umtslab import proxy
        from umtslab.emulate import control_groups, forwarding

        for line in [*forwarding.clean(), *control_groups.clean(), *proxy.clean()] or ["nothing to clean"]:
            print(line)
        return 0
    if json:
        rows = [dict(zip(("what", "found", "remark"), row, strict=True)) for row in _components()]
        print(json_text.dumps(rows, indent=1))
        return 0
    from umtslab.text_table import Table, show

    table = Table("what", "found", "remark")
    for row in _components():
        table.add_row(*row)
    show(table)
    return 0


def _components() -> Iterator[tuple[str, str, str]]:
    """Yield name, version and remark of each component."""
    from importlib.metadata import version

    from umtslab.version import code_version

    code = code_version()
    yield "umtslab", code.version, f"commit {code.commit}, sources {code.code[:12]}"
    yield "Python", platform.python_version(), platform.platform()
    yield "processors", str(_processor_count()), "usable by this process"
    for library in _LIBRARIES:
        yield library, version(library), ""
    for library, (used_by, _) in EXTRAS.items():
        yield library, *_extra(library, used_by)
    tshark = _tshark()
    yield "tshark", tshark or "missing", "" if tshark else "reads captures; not required to write them"
    if sys.platform != "linux":
        yield "emulation and proxy", "no", f"they need Linux, this is {sys.platform}"
        return
    from umtslab import proxy
    from umtslab.emulate import machine

    yield from machine.needs()
    yield from proxy.doctor_rows()


def _processor_count() -> int:
    """Return the number of processors, on Linux of those that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _extra(library: str, used_by: str) -> tuple[str, str]:
    """Return the version of an optional library, or "missing" with the advice to install it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(library), ""
    except PackageNotFoundError:
        return "missing", f"required by {used_by}: {how_to_install(library)}"


def _tshark() -> str | None:
    """Return the first line of the output of `tshark --version`.

    None if tshark is not installed.
    """
    program = shutil.which("tshark")
    if program is None:
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return answer.stdout.partition("\n")[0] or f"{program} does not run"
