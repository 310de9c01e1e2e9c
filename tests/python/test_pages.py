"""Pages are short, their links resolve, and the commands, keys and files that they name exist."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator

import pytest
from quoted import BLOCK, ROOT
from umtslab import _core
from umtslab.cli.parser import parser_of
from umtslab.cli.verbs import VERBS
from umtslab.former_names import current_key, current_metric
from umtslab.metrics import definitions

MAX_LINES = {"README.md": 200, "CHANGELOG.md": 80, "docs/performance.md": 120}
MAX_LINES_OF_OTHER_PAGES = 350
GENERATED = "docs/reference/"

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
"""A block of code."""
LINK = re.compile(r"\]\(([^()\s]+)\)")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
"""Code in a sentence."""
FILE = re.compile(
    r"(?:scenarios|campaigns|traces|tests|tools|crates|python|benches|docs|examples|reproductions)/[\w./-]+"
)


def pages() -> list[str]:
    """Return the Markdown files of the root, of docs/ and of reproductions/."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("reproductions/**/*.md")]
    return sorted(str(file.relative_to(ROOT)) for file in files)


PAGES = pages()
MANUAL = [page for page in PAGES if page.startswith("docs/") or page == "README.md"]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return FENCE.sub("", text)


def anchors(page: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings: Counter[str] = Counter()
    names = set(re.findall(r'<a (?:id|name)="([^"]+)"', text_of(page)))
    for heading in re.findall(r"^#+ +(.*)$", without_code(text_of(page)), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        names.add(f"{slug}-{headings[slug]}" if headings[slug] else slug)
        headings[slug] += 1
    return names


@pytest.mark.parametrize(
    "page", [page for page in MANUAL if not page.startswith(GENERATED)] + ["CHANGELOG.md"]
)
def test_a_page_is_short(page: str) -> None:
    assert len(text_of(page).splitlines()) <= MAX_LINES.get(page, MAX_LINES_OF_OTHER_PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_and_anchors_resolve(page: str) -> None:
    folder = (ROOT / page).parent
    for link in LINK.findall(SPAN.sub("", without_code(text_of(page)))):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        file = (folder / target).resolve() if target else ROOT / page
        assert file.exists(), f"{link}: there is no such file"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(str(file.relative_to(ROOT))), f"{link}: there is no such heading"


def commands(page: str) -> Iterator[str]:
    """Return the commands of a page, in blocks and in sentences."""
    for block in BLOCK.finditer(text_of(page)):
        for line in block[1].replace("\\\n", " ").splitlines():
            yield from (part.strip() for part in re.split(r" && | \| ", line.split(" # ")[0]))
    yield from SPAN.findall(without_code(text_of(page)))


@pytest.mark.parametrize("page", MANUAL)
def test_commands_have_existing_verbs_and_options(page: str) -> None:
    for command in commands(page):
        words = shlex.split(command, comments=True) if command.startswith("umts ") else []
        if not words[1:] or words[1].startswith("-") or not words[1].islower():
            continue
        verb, *rest = words[1:]
        assert verb in VERBS, command
        options = {name for action in parser_of(verb)._actions for name in action.option_strings}
        # Words after "--" belong to the emulated program.
        of_verb = rest[: rest.index("--")] if "--" in rest else rest
        for word in of_verb:
            option = word.partition("=")[0]
            assert not re.match(r"--?[a-zA-Z]", word) or option in options, f"{command}: {option}"


@pytest.mark.parametrize("page", MANUAL)
def test_files_in_sentences_exist(page: str) -> None:
    for span in SPAN.findall(without_code(text_of(page))):
        for name in FILE.findall(span):
            if re.search(r"[A-Z]{2,}|\*|…", span):
                continue
            assert (ROOT / name).exists(), name


METRIC = re.compile(r"[a-z][a-z0-9_]*_(?:kbps|pct|ms|per_s|uplink|count)")

COLUMNS = {"downlink_kbps", "guaranteed_kbps", "limited_pct", "uplink_kbps"}
"""Columns of tables, and fields of candidates of schedulers, which are not metrics."""

KEYS = {row["key"] for row in _core.params()}
TABLES = {key.partition(".")[0] for key in KEYS if "." in key}


def general(key: str) -> str:
    """Return a key without the numbers of entries: `ue.0.bearer` is `ue.bearer`."""
    return re.sub(r"\.\d+(?=\.|$)", "", key)


CHANGED_ONLY = {"radio.cut", "ue.radio.cut"}
"""Keys of changes during a run (`[[at]]`) that no scenario has from the start."""


@pytest.mark.parametrize("page", MANUAL)
def test_keys_in_sentences_exist(page: str) -> None:
    known = {general(key) for key in KEYS} | CHANGED_ONLY
    tables = {key.rsplit(".", count)[0] for key in known for count in range(1, key.count(".") + 1)}
    for span in SPAN.findall(without_code(text_of(page))):
        match = re.fullmatch(r"(?P<key>(?P<table>\w+)\.[a-z_0-9.]+)(?: *=.*)?", span)
        if match is None or match["table"] not in TABLES:
            continue
        if re.search(r"\.(toml|py|rs|md|jsonl)$", match["key"]):
            continue
        key = general(current_key(match["key"]))
        assert key in known or key in tables, span


@pytest.mark.parametrize("page", MANUAL)
def test_metrics_in_sentences_exist(page: str) -> None:
    known = {entry["name"] for entry in (*definitions(), *_core.capture_metric_definitions())}
    for span in SPAN.findall(without_code(text_of(page))):
        if METRIC.fullmatch(span) and span not in COLUMNS:
            assert current_metric(span) in known, span
