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
    printed, count, parts, end = "", 0, [], 0
    for found in _BLOCK.finditer(text):
        language, title, content = found.groups()
        parts.append(text[end : found.start()])
        end = found.end()
        if language == "text" and printed:
            content = shown(content, printed)
        parts.append(f"```{language}{f' title={chr(34)}{title}{chr(34)}' if title else ''}\n{content}```")
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
    rest = iter(printed.splitlines())
    new = []
    for line in old.splitlines():
        head = re.split(r"\s\s", line.strip())[0]
        match = (
            line if line == ELLIPSIS else next((one for one in rest if one.strip().startswith(head)), None)
        )
        new.append(f"(not printed) {line}" if match is None else match)
    return "\n".join(new) + "\n"
