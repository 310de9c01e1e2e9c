"""``umts doctor``: what runs here, and what is missing."""

from __future__ import annotations

import json as json_text
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from umtslab.cli.options import add_flag, add_json
from umtslab.extras import EXTRAS, how_to_install

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser

_LIBRARIES = ("polars", "duckdb", "numpy", "scipy", "matplotlib", "rich", "shtab")


def options(parser: Parser) -> None:
    """What can be typed behind ``umts doctor``."""
    add_flag(
        parser,
        "--clean",
        "Set back what emulations with --internet left on this host when they were killed, and nothing else.",
    )
    add_json(parser, "one JSON list")


def doctor(*, clean: bool, json: bool) -> int:
    """Print versions, and what is installed of what can be used; arguments as `options` declares them."""
    if clean:
        from umtslab.emulate import forwarding

        for line in forwarding.clean() or ["nothing was left"]:
            print(line)
        return 0
    if json:
        rows = [dict(zip(("what", "found", "remark"), row, strict=True)) for row in _found()]
        print(json_text.dumps(rows, indent=1))
        return 0
    from umtslab.columns import Table, show

    table = Table("what", "found", "remark")
    for row in _found():
        table.add_row(*row)
    show(table)
    return 0


def _found() -> Iterator[tuple[str, str, str]]:
    from importlib.metadata import version

    from umtslab.emulate import machine
    from umtslab.run import code_version

    code = code_version()
    yield "umtslab", code.version, f"commit {code.commit}, sources {code.code[:12]}"
    yield "Python", platform.python_version(), platform.platform()
    yield "processors", str(len(os.sched_getaffinity(0))), "that this process may use"
    for library in _LIBRARIES:
        yield library, version(library), ""
    for library, (used_by, _) in EXTRAS.items():
        yield library, *_extra(library, used_by)
    found = _tshark()
    yield "tshark", found or "missing", "" if found else "reads captures; not needed to write them"
    yield from machine.needs()


def _extra(library: str, used_by: str) -> tuple[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(library), ""
    except PackageNotFoundError:
        return "missing", f"{used_by} needs it: {how_to_install(library)}"


def _tshark() -> str | None:
    program = shutil.which("tshark")
    if program is None:
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return answer.stdout.partition("\n")[0] or f"{program} does not run"
