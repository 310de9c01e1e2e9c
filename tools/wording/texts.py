"""The prose of a file: comments, docstrings, string literals, Markdown, names of functions."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SHORTEST_STRING = 4
"""String literals of fewer words are keys, labels and formats, not sentences."""

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
    line, read = 1, 0
    for found in RUST.finditer(content):
        line, read = line + content.count("\n", read, found.start()), found.start()
        if (name := found["name"]) is not None:
            yield "Names", line, name.replace("_", " ")
        elif (comment := found["line"] if found["line"] is not None else found["block"]) is not None:
            for offset, words in enumerate(comment.split("\n")):
                yield "Rust comments", line + offset, words.strip(" *")
        elif (inside := found["inside_raw"] if found["raw"] else found["inside"]) is not None:
            words = inside if found["raw"] else ESCAPED.sub(" ", CONTINUED.sub("", inside))
            if is_sentence(words):
                yield "Rust strings", line, " ".join(words.split())


def python(content: str) -> Iterator[tuple[str, int, str]]:
    """Return comments, docstrings, strings and names of functions of a Python file.

    A string that is a statement of its own is a docstring, also after an attribute.
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
    """Return whether a string literal is long enough to be prose."""
    return len(WORD.findall(words)) >= SHORTEST_STRING and " " in words


READERS: dict[str, Callable[[str], Iterator[tuple[str, int, str]]]] = {
    ".rs": rust,
    ".py": python,
    ".md": markdown,
}
