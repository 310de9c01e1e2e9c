"""The commands of the tutorial, the recipes and other pages run and print the shown output.

``UMTS_BLESS=1`` writes the printed output into the pages.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from page_commands import follow, shown
from quoted import ROOT, User

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
"""A page has up to thirty commands, which need half a minute of CPU time."""

DOCS = ROOT / "docs"
PAGES = {
    "docs/tutorial.md": 10,
    "docs/tutorial-numbers.md": 8,
    "docs/recipes.md": 25,
    "docs/installing.md": 3,
    "docs/coming-from/ns2.md": 3,
    "docs/coming-from/ns3.md": 2,
    "docs/coming-from/mahimahi-netem.md": 4,
    "docs/explanation/rlc-under-tcp.md": 2,
    "docs/explanation/time-budget.md": 1,
    "docs/explanation/rrc.md": 1,
    "docs/explanation/dsch.md": 1,
    "docs/explanation/tdd.md": 1,
    "docs/explanation/split-tcp.md": 2,
}
"""Pages by path, with the least number of commands on each."""


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_the_page_print_the_shown_output(name: str, tmp_path: Path) -> None:
    page = ROOT / name
    text = page.read_text(encoding="utf-8")
    count, current_text = follow(text, User(tmp_path))
    assert count >= PAGES[name]
    if os.environ.get("UMTS_BLESS") == "1":
        page.write_text(current_text, encoding="utf-8")
    else:
        assert text.splitlines() == current_text.splitlines()


def test_there_are_twenty_recipes_with_a_command_each() -> None:
    recipes = re.split(r"^## ", (DOCS / "recipes.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(recipes) == 20
    assert all("```sh\n" in recipe for recipe in recipes)


def test_shown_rows_are_taken_from_the_output() -> None:
    assert shown("b  1\n…\nd  1\n", "a  2\nb  2\nc  2\nd  2\n") == "b  2\n…\nd  2\n"
    assert shown("old\n", "new\n") == "new\n"
    assert shown("…\nx  1\n", "a  2\n") == "…\n(not printed) x  1\n"
