"""The commands of README and of pages in docs/ print the quoted output.

The pages of other tests are left out: guide.md (`test_guide`), python.md and the recipes of
results.md (`test_docs`), figures.md (`test_plot_examples`), tutorial, recipes and others
(`test_page_commands`).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from quoted import ROOT, Shown, User, missing, numbers, shown, without_numbers
from test_page_commands import PAGES as COMPARED

pytestmark = pytest.mark.slow

SIMULATED = {
    "README.md": 2,
    "docs/campaigns.md": 2,
    "docs/dsch.md": 2,
    "docs/reproducing.md": 1,
    "docs/studies.md": 1,
    "docs/tdd.md": 1,
}
"""Number of quoted outputs of each page that are simulations, equal to the digit."""
EMULATED = {"README.md": 1, "docs/emulate.md": 1}
ANALYSED = {"README.md": 1}
EMULATION_TOLERANCE = 0.1
"""The kernel's TCP differs a little between emulations."""
SMALLEST = 0.01
"""Smaller numbers of an emulation, in s or %, are not compared."""


def quoted(page: str, verbs: str) -> list[Shown]:
    """Return the blocks of a page with quoted output that end with a command of these verbs."""
    last = re.compile(rf"umts (?:{verbs})\b")
    return [block for block in shown(page) if block.answer and last.match(block.commands[-1])]


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    return User(tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("page", SIMULATED)
def test_a_simulation_prints_the_quoted_output(user: User, page: str) -> None:
    blocks = quoted(page, "run|sweep|compare|reproduce|sensitivity")
    assert len(blocks) == SIMULATED[page]
    for block in blocks:
        printed = [user.types(line) for line in block.commands][-1]
        assert block.answer is not None
        assert missing(block.answer, printed) is None, f"{block.commands}\n{printed}"


def test_a_query_of_a_campaign_prints_the_quoted_output(tmp_path: Path) -> None:
    [block] = quoted("docs/results.md", "query")
    user = User(tmp_path)
    user.types("umts sweep campaigns/fach-error-rate.toml --quiet")
    printed = user.types(block.commands[-1])
    assert block.answer is not None
    assert missing(block.answer, printed) is None, printed


@pytest.mark.wall_clock
@pytest.mark.parametrize("page", EMULATED)
def test_an_emulation_prints_the_quoted_output(user: User, page: str) -> None:
    blocks = quoted(page, "emulate")
    assert len(blocks) == EMULATED[page]
    for block in blocks:
        printed = user.types(f"{block.commands[-1]} 2>&1")
        assert block.answer is not None
        assert_alike(block.answer, printed)


@pytest.mark.wall_clock
def test_the_capture_of_an_emulation_is_analysed_as_quoted(user: User) -> None:
    [emulation] = quoted("README.md", "emulate")
    [analysis] = quoted("README.md", "analyse")
    user.types(emulation.commands[-1].replace("--pcap", "--pcap --out captured"))
    [capture] = user.folder.glob("captured/runs/*/captures/server.pcapng")
    shutil.copy(capture, user.folder)
    assert analysis.answer is not None
    assert_alike(analysis.answer, user.types(analysis.commands[-1]))


def test_no_quoted_output_is_left_out() -> None:
    pages = ("README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))
    tested = {"docs/guide.md": 2, "docs/results.md": 1}
    for page in set(pages) - set(COMPARED):
        number = sum(counts.get(page, 0) for counts in (SIMULATED, EMULATED, ANALYSED, tested))
        assert sum(block.answer is not None for block in shown(page)) == number, page


def assert_alike(answer: str, printed: str) -> None:
    """Check that the quoted lines are printed, with numbers within the tolerance."""
    rest = iter(printed.splitlines())
    for line in answer.splitlines():
        if line.strip() == "…":
            continue
        same = without_numbers(line.partition("…")[0])
        found = next((other for other in rest if without_numbers(other).startswith(same)), None)
        assert found is not None, f"{line!r} is not in\n{printed}"
        for expected, number in zip(numbers(line), numbers(found), strict=False):
            if abs(expected) >= SMALLEST:
                assert number == pytest.approx(expected, rel=EMULATION_TOLERANCE), f"{line!r}\n{found!r}"
