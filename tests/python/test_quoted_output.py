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
from quoted import ROOT, QuotedBlock, User, missing, numbers, quoted_blocks, without_numbers
from test_page_commands import PAGES as COMPARED

pytestmark = pytest.mark.slow

SIMULATED = {
    "README.md": 2,
    "docs/campaigns.md": 2,
    "docs/cells.md": 2,
    "docs/dsch.md": 2,
    "docs/hspa.md": 1,
    "docs/reproducing.md": 1,
    "docs/studies.md": 1,
    "docs/tdd.md": 1,
}
"""Number of quoted outputs of simulations on each page. Every digit must be equal."""

EMULATED = {"README.md": 1, "docs/emulate.md": 1}
"""Number of quoted outputs of emulations on each page."""

ANALYSED = {"README.md": 1}
"""Number of quoted outputs of analyses of captures on each page."""

DECODED = {"docs/hspa.md": 1}
"""Number of quoted outputs of tshark on each page."""

EMULATION_TOLERANCE = 0.1
"""The kernel's TCP differs a little between emulations."""

SMALLEST = 0.01
"""Smaller numbers of an emulation, in s or %, are not compared."""


def blocks_with_output(page: str, verbs: str) -> list[QuotedBlock]:
    """Return the blocks of a page with quoted output that end with a command of these verbs."""
    of_verbs = re.compile(rf"umts (?:{verbs})\b")
    return [block for block in quoted_blocks(page) if block.output and of_verbs.match(block.commands[-1])]


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    """A user in a folder without results."""
    return User(tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("page", SIMULATED)
def test_a_simulation_prints_the_quoted_output(user: User, page: str) -> None:
    blocks = blocks_with_output(page, "run|sweep|compare|reproduce|sensitivity")
    assert len(blocks) == SIMULATED[page]
    for block in blocks:
        printed = [user.run(line) for line in block.commands][-1]
        assert block.output is not None
        assert missing(block.output, printed) is None, f"{block.commands}\n{printed}"


def test_a_query_of_a_campaign_prints_the_quoted_output(tmp_path: Path) -> None:
    [block] = blocks_with_output("docs/results.md", "query")
    user = User(tmp_path)
    user.run("umts sweep campaigns/fach-error-rate.toml --quiet")
    printed = user.run(block.commands[-1])
    assert block.output is not None
    assert missing(block.output, printed) is None, printed


@pytest.mark.wall_clock
@pytest.mark.parametrize("page", EMULATED)
def test_an_emulation_prints_the_quoted_output(user: User, page: str) -> None:
    blocks = blocks_with_output(page, "emulate")
    assert len(blocks) == EMULATED[page]
    for block in blocks:
        printed = user.run(f"{block.commands[-1]} 2>&1")
        assert block.output is not None
        assert_similar(block.output, printed)


@pytest.mark.wall_clock
def test_the_capture_of_an_emulation_is_analysed_as_quoted(user: User) -> None:
    [emulation] = blocks_with_output("README.md", "emulate")
    [analysis] = blocks_with_output("README.md", "analyse")
    user.run(emulation.commands[-1].replace("--pcap", "--pcap --out captured"))
    [capture] = user.folder.glob("captured/runs/*/captures/server.pcapng")
    shutil.copy(capture, user.folder)
    assert analysis.output is not None
    assert_similar(analysis.output, user.run(analysis.commands[-1]))


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("page", DECODED)
def test_tshark_prints_the_quoted_output(user: User, page: str) -> None:
    blocks = [
        block for block in quoted_blocks(page) if block.output and block.commands[-1].startswith("tshark")
    ]
    assert len(blocks) == DECODED[page]
    for block in blocks:
        simulation, decoding = block.commands
        user.run(simulation)
        [run] = user.folder.glob("results/hspa/runs/*")
        printed = user.run(decoding.replace("KEY", run.name))
        assert block.output is not None
        assert missing(block.output, printed) is None, printed


def test_every_quoted_output_of_a_page_is_tested() -> None:
    pages = ("README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))
    # The outputs of test_guide and test_why, and the query of a campaign.
    elsewhere = {"docs/guide.md": 2, "docs/results.md": 1, "docs/why.md": 2}
    for page in set(pages) - set(COMPARED):
        tested = sum(counts.get(page, 0) for counts in (SIMULATED, EMULATED, ANALYSED, DECODED, elsewhere))
        assert sum(block.output is not None for block in quoted_blocks(page)) == tested, page


def assert_similar(quoted: str, printed: str) -> None:
    """Check that the quoted lines are printed in order, with numbers within the tolerance."""
    printed_lines = iter(printed.splitlines())
    for line in quoted.splitlines():
        if line.strip() == "…":
            continue
        words = without_numbers(line.partition("…")[0])
        # The search continues after the previous match.
        similar = next((other for other in printed_lines if without_numbers(other).startswith(words)), None)
        assert similar is not None, f"{line!r} is not in\n{printed}"
        for expected, number in zip(numbers(line), numbers(similar), strict=False):
            if abs(expected) >= SMALLEST:
                assert number == pytest.approx(expected, rel=EMULATION_TOLERANCE), f"{line!r}\n{similar!r}"
