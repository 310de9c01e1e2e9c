"""The examples of ``umts plot --help`` and of docs/figures.md work if run in order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import run_umts
from umtslab.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
ON_THE_PAGE = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


@pytest.mark.slow
@pytest.mark.parametrize("lines", [VERBS["plot"].examples, ON_THE_PAGE], ids=["help", "page"])
def test_the_examples_work_in_order(lines: Sequence[str], tmp_path: Path) -> None:
    for folder in ("scenarios", "campaigns"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    drawn_count = 0
    for line in lines:
        verb, *words = shlex.split(line, comments=True)[1:]
        quiet = [] if verb == "plot" else ["--quiet"]
        done = run_umts(tmp_path, verb, *words, *quiet)
        if verb == "plot":
            drawn_count += 1
            assert (tmp_path / done.stdout.strip()).is_file()
    assert drawn_count >= 5
