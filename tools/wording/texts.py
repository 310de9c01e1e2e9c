"""The prose of a file: comments, docstrings, string literals, Markdown, names of functions."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

MIN_WORDS = 4
"""String literals with fewer words are keys, labels or formats, not sentences."""

RUST = re.compile(
    r"""
      //[/!]?(?P<line>[^\n]*)
    | /\*(?P<block>.*?)\*/
    | (?P<raw>\b(?:b|c)?r(?P<hashes>\#*)"(?P<inside_raw>.*?)"(?P=hashes))
    | (?P<string>"(?P<inside>(?:\\.|[^"\\])*)")
    | '(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'
    | \bfn\s+(?P<name>\w+)
    """,
    re.VERBOSE | re.DOTALL,
)
CONTINUED = re.compile(r"\\\n\s*")
ESCAPED = re.compile(r"\\[nrt0]")
CODE = re.compile(r"``[^`]*``|`[^`]*`")
LINK_TARGET = re.compile(r"\]\([^)]*\)|<https?:[^>]*>|https?:\S+")
FENCE = re.compile(r"\s*(```|~~~)")
WORD = re.compile(r"[A-Za-z]{2,}")


class Text(NamedTuple):
    """A line of prose."""

    kind: str
    path: str
    line: int
    words: str


def texts(path: str, content: str) -> Iterator[Text]:
    """Return the prose of a file by its extension. Code in backquotes is left out."""
    reader = READERS.get(Path(path).suffix)
    if reader is None:
        return
    for kind, line, words in reader(content):
        yield Text(kind, path, line, CODE.sub(" ", words))


def rust(content: str) -> Iterator[tuple[str, int, str]]:
    """Return comments, strings and names of functions of a Rust file."""
    line, position = 1, 0
    for match in RUST.finditer(content):
        line, position = line + content.count("\n", position, match.start()), match.start()
        if (name := match["name"]) is not None:
            yield "Names", line, name.replace("_", " ")
        elif (comment := match["line"] if match["line"] is not None else match["block"]) is not None:
            for offset, words in enumerate(comment.split("\n")):
                yield "Rust comments", line + offset, words.strip(" *")
        elif (inside := match["inside_raw"] if match["raw"] else match["inside"]) is not None:
            words = inside if match["raw"] else ESCAPED.sub(" ", CONTINUED.sub("", inside))
            if is_sentence(words):
                yield "Rust strings", line, " ".join(words.split())


def python(content: str) -> Iterator[tuple[str, int, str]]:
    """Return comments, docstrings, strings and names of functions of a Python file.

    Every string that is a statement counts as a docstring, also after an attribute.
    """
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            yield "Python comments", token.start[0], token.string.lstrip("#! ")
    tree = ast.parse(content)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "Names", node.lineno, node.name.replace("_", " ")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node in docstrings:
                for offset, words in enumerate(node.value.splitlines()):
                    yield "Python comments", node.lineno + offset, words
            elif is_sentence(node.value):
                yield "Python strings", node.lineno, " ".join(node.value.split())


def markdown(content: str) -> Iterator[tuple[str, int, str]]:
    """Return the lines of a page outside code blocks, without the targets of links."""
    is_code = False
    for line, words in enumerate(content.splitlines(), 1):
        if FENCE.match(words):
            is_code = not is_code
        elif not is_code:
            yield "Markdown", line, LINK_TARGET.sub(" ", words)


def is_sentence(words: str) -> bool:
    """Whether a string literal is long enough to be prose."""
    return len(WORD.findall(words)) >= MIN_WORDS and " " in words


READERS: dict[str, Callable[[str], Iterator[tuple[str, int, str]]]] = {
    ".rs": rust,
    ".py": python,
    ".md": markdown,
}
