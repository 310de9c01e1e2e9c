"""``umts doctor``: what runs here, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import version

_LIBRARIES = ("polars", "duckdb", "numpy", "scipy", "matplotlib", "rich", "cyclopts")


def doctor() -> int:
    """Versions, and what is installed of what can be used."""
    from umtslab.cli.tables import output, plain_table
    from umtslab.run import code_version

    code = code_version()
    table = plain_table("what", "found", "remark")
    table.add_row("umtslab", code.version, f"commit {code.commit}, sources {code.code[:12]}")
    table.add_row("Python", platform.python_version(), platform.platform())
    table.add_row("processors", str(len(os.sched_getaffinity(0))), "that this process may use")
    for library in _LIBRARIES:
        table.add_row(library, version(library), "")
    found = _tshark()
    table.add_row("tshark", found or "missing", "" if found else "reads captures; not needed to write them")
    output().print(table)
    return 0


def _tshark() -> str | None:
    program = shutil.which("tshark")
    if program is None:
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return answer.stdout.partition("\n")[0] or f"{program} does not run"
