"""Runs the commands of a Markdown page in order, and compares their output with the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quoted import User

KEY = re.compile(r"(?<=\d\+)[\w-]+|(?<=[\s/])[0-9a-f]{12,}\b")
"""Keys of runs and results, and commits, change with the code. Pages show KEY for them."""

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
ELLIPSIS = "…"


def follow(text: str, user: User) -> tuple[int, str]:
    """Do everything in the order of a page.

    Blocks with a title are written into files, commands are run, and each shown output is replaced
    by the printed one. Returns the number of commands, and the new text of the page.
    """
    printed, count = "", 0
    parts, end = [], 0
    for block in _BLOCK.finditer(text):
        language, title, content = block.groups()
        parts.append(text[end : block.start()])
        end = block.end()
        if language == "text" and printed:
            content = shown(content, printed)
        heading = f'{language} title="{title}"' if title else language
        parts.append(f"```{heading}\n{content}```")
        if title:
            (user.folder / title).write_text(content, encoding="utf-8")
        if language == "sh":
            commands = list(lines(content))
            printed = KEY.sub("KEY", "".join(user.run(line) for line in commands))
            count += len(commands)
        elif language == "text":
            printed = ""
    return count, "".join([*parts, text[end:]])


def lines(block: str) -> Iterator[str]:
    """Yield the command lines of a block. A backslash at the end continues a line."""
    for line in block.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def shown(old: str, printed: str) -> str:
    """Return the output that a page should show instead of `old`.

    With lines of dots, only the rows that `old` shows are taken, in their order.
    """
    if ELLIPSIS not in old.splitlines():
        return printed
    printed_lines = iter(printed.splitlines())
    new = []
    for line in old.splitlines():
        if line == ELLIPSIS:
            new.append(line)
            continue
        name_of_row = re.split(r"\s\s", line.strip())[0]
        # The search continues after the previous match.
        matching = (other for other in printed_lines if other.strip().startswith(name_of_row))
        new.append(next(matching, f"(not printed) {line}"))
    return "\n".join(new) + "\n"
