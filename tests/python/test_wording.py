"""``tools/wording`` counts habits in every kind of text, and fails above limits and ceilings.

A habit is a group of words that the project avoids. A limit is a rate per 10,000 words, for all
texts. A ceiling is a higher count that one area may have.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "wording"

RUST = """
//! Returns the oldest packet.
/// Sends a packet. `code` is left out.
fn is_full(mut queue: Queue) { // empty queue
    let quote = '"'; /* as it
    stands */
    panic!("the queue of the receiver \\
            is full");
    let raw = r#"// prints "this" long text"#;
    let key = "what";
}
"""
PYTHON = '''
"""Module with two paragraphs.

Its second paragraph.
"""
LIMIT = 3
"""What it may be."""


async def find_all(who: str) -> str:  # for every connected host
    """Return it."""
    key = "who"
    return f"the path of {who} that was found" " in the folder"
'''
MARKDOWN = """# What it is

The reader opens [this](docs/what-it-is.md) or `what`.

```sh
what is this
```
"""


class Tool(NamedTuple):
    """The modules of the tool."""

    texts: ModuleType
    counts: ModuleType


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    sys.path.insert(0, str(TOOL))
    try:
        import counts
        import texts

        yield Tool(texts, counts)
    finally:
        sys.path.remove(str(TOOL))


def texts_by_kind(tool: Tool, path: str, content: str) -> dict[str, list[tuple[int, str]]]:
    """Return line and words of each text of a file, by kind."""
    by_kind: dict[str, list[tuple[int, str]]] = {}
    for text in tool.texts.texts(path, content):
        by_kind.setdefault(text.kind, []).append((text.line, " ".join(text.words.split())))
    return {kind: sorted(line for line in lines if line[1]) for kind, lines in by_kind.items()}


def test_comments_strings_and_names_of_rust_are_read(tool: Tool) -> None:
    assert texts_by_kind(tool, "crates/stack/src/lib.rs", RUST) == {
        "Rust comments": [
            (2, "Returns the oldest packet."),
            (3, "Sends a packet. is left out."),
            (4, "empty queue"),
            (5, "as it"),
            (6, "stands"),
        ],
        "Rust strings": [
            (7, "the queue of the receiver is full"),
            (9, '// prints "this" long text'),
        ],
        "Names": [(4, "is full")],
    }


def test_comments_docstrings_strings_and_names_of_python_are_read(tool: Tool) -> None:
    assert texts_by_kind(tool, "python/umtslab/a.py", PYTHON) == {
        "Python comments": [
            (2, "Module with two paragraphs."),
            (4, "Its second paragraph."),
            (7, "What it may be."),
            (10, "for every connected host"),
            (11, "Return it."),
        ],
        "Python strings": [(13, "that was found in the folder")],
        "Names": [(10, "find all")],
    }


def test_code_and_links_of_a_page_are_left_out(tool: Tool) -> None:
    assert texts_by_kind(tool, "docs/a.md", MARKDOWN) == {
        "Markdown": [(1, "# What it is"), (3, "The reader opens [this or .")]
    }


@pytest.mark.parametrize(
    ("path", "area"),
    [
        ("crates/stack/src/radio/rlc/am/mod.rs", "crates/stack"),
        ("python/umtslab/plot/cdf.py", "python/umtslab/plot"),
        ("python/umtslab/numbers.py", "python/umtslab"),
        ("tools/golden/src/lib.rs", "tools/golden"),
        ("tests/python/test_docs.py", "tests/python"),
        ("docs/reference/metrics.md", "docs"),
        ("README.md", "."),
    ],
)
def test_an_area_is_a_crate_a_package_or_a_folder(tool: Tool, path: str, area: str) -> None:
    assert tool.counts.area(path) == area


def counted(tool: Tool, path: str, *lines: str) -> dict[object, object]:
    """Count the habits in Markdown lines, by the rules of the repository."""
    rules = tool.counts.Rules.load(TOOL / "limits.toml")
    text = (tool.texts.Text("Markdown", path, number, line) for number, line in enumerate(lines, 1))
    counts: dict[object, object] = tool.counts.count(text, rules)
    return counts


@pytest.mark.parametrize(
    ("habit", "words", "hits"),
    [
        ("what", "What whatever somewhat", 1),
        ("tell, told", "tells told telltale", 2),
        ("who, whose, whom", "whose whom whole", 2),
        ("ask, asked", "asks task asking", 2),
        ("that of", "that of those", 1),
        ("so many", "so much sofa", 1),
        ("nobody, whoever", "nobody whoever everybody", 2),
        ("it, its", "its itself it", 2),
        ("anew", "anew renewed place", 1),
    ],
)
def test_each_habit_is_counted(tool: Tool, habit: str, words: str, hits: int) -> None:
    counts = counted(tool, "docs/a.md", words)
    assert counts[tool.counts.AreaAndKind("docs", "Markdown")].hits[habit] == hits  # type: ignore[attr-defined]


def excesses(tool: Tool, hits: int, words: int, ceiling: int = 0) -> list[tuple[str, int, int]]:
    """Return the counts above their limits in a page with `hits` times "what"."""
    rules = tool.counts.Rules.load(TOOL / "limits.toml")
    counts = counted(tool, "docs/a.md", "what " * hits + "plain " * (words - hits))
    place = tool.counts.AreaAndKind("docs", "Markdown")
    ceilings = {place: {"what": ceiling}} if ceiling else {}
    return [
        (excess.habit, excess.hits, excess.allowed)
        for excess in tool.counts.excesses(counts, rules, ceilings)
        if excess.place == place
    ]


# The limit of "what" is 12 in 10,000 words.
def test_a_rate_above_its_limit_fails(tool: Tool) -> None:
    assert excesses(tool, hits=12, words=10_000) == []
    assert excesses(tool, hits=13, words=10_000) == [("what", 13, 12)]


def test_two_hits_are_allowed_in_a_short_text(tool: Tool) -> None:
    assert excesses(tool, hits=2, words=20) == []
    assert excesses(tool, hits=3, words=20) == [("what", 3, 2)]


def test_a_ceiling_allows_its_hits_and_no_more(tool: Tool) -> None:
    assert excesses(tool, hits=30, words=10_000, ceiling=30) == []
    assert excesses(tool, hits=31, words=10_000, ceiling=30) == [("what", 31, 30)]


def test_ceilings_only_fall_and_end_at_the_limit(tool: Tool) -> None:
    rules = tool.counts.Rules.load(TOOL / "limits.toml")
    place = tool.counts.AreaAndKind("docs", "Markdown")
    without_texts = tool.counts.AreaAndKind("crates/gone", "Names")

    def tightened(hits: int) -> object:
        counts = counted(tool, "docs/a.md", "what " * hits + "plain " * 9_900)
        ceilings = {place: {"what": 30}, without_texts: {"what": 9}}
        return tool.counts.tightened(counts, rules, ceilings)

    assert tightened(40) == {place: {"what": 30}}
    assert tightened(20) == {place: {"what": 20}}
    # Within the limit of 12 in 10,000 words
    assert tightened(10) == {}


def test_ceilings_are_read_as_they_were_written(tool: Tool, tmp_path: Path) -> None:
    place = tool.counts.AreaAndKind("crates/stack", "Rust comments")
    ceilings = {place: {"what": 30, "it, its": 2}}
    file = tmp_path / "ceilings.toml"
    assert tool.counts.load_ceilings(file) == {}
    file.write_text(tool.counts.write_ceilings(ceilings), encoding="utf-8")
    assert tool.counts.load_ceilings(file) == ceilings


def test_an_allowed_phrase_is_no_hit_below_its_path(tool: Tool) -> None:
    rules = tool.counts.Rules.load(TOOL / "limits.toml")
    allowed = tool.counts.Allowed("docs/", "ask price")
    with_phrase = tool.counts.Rules(rules.habits, (allowed,), rules.excluded)
    below = tool.texts.Text("Markdown", "docs/a.md", 1, "an ask price")
    elsewhere = tool.texts.Text("Markdown", "README.md", 1, "an ask price")
    assert not tool.counts.hits_of(below, with_phrase)
    assert tool.counts.hits_of(elsewhere, with_phrase)


def test_the_worst_lines_of_a_path_are_printed() -> None:
    words = [sys.executable, str(TOOL / "check.py"), "--worst", "3", "crates/stack"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("crates/stack/") for line in lines)
